// The legend: what the colours mean, how many live points each class has, and switches that hide and show.

import { button, icon, make } from "./dom";
import type { Layer, Look } from "./look";
import { css, NONE, OUTLIER, type Rgb } from "./palette";
import type { Entry } from "./poster";
import type { State } from "./state";
import { legible, number } from "./words";

interface Switch { button: HTMLButtonElement; small: HTMLElement; name: string | null }

const LAYERS: [Layer, string][] = [["base", "Base map"], ["placed", "Arrivals"], ["outliers", "Outliers"]];

export class Legend {
  private entries: Switch[] = [];
  private layers: { layer: Layer; button: HTMLButtonElement; small: HTMLElement }[] = [];
  private readonly list = make("ul");
  private readonly by = make("div", "by");
  private readonly all: HTMLButtonElement;

  constructor(root: HTMLElement, private readonly look: Look, private readonly changed: (base: boolean) => void, private readonly rename: (name: string, beside: HTMLElement) => void) {
    const { map } = look;
    const heading = make("h2", "", map.clusters_from === "labels" ? "Labels" : "Clusters");
    heading.append(make("small", "", "live points"));
    this.all = button("all", "Show all", () => this.update(() => {
      look.hidden.clear();
      look.off.clear();
    }));
    const layers = make("ul");
    for (const [layer, name] of LAYERS) layers.append(this.layer(layer, name));
    this.makeBy();
    root.replaceChildren(heading, this.list, this.by, make("h2", "", "Shown"), layers, this.all,
      make("p", "hint", "Click hides or shows. Double-click, or shift and click, leaves one alone."));
    this.fill();
  }

  /** Again from the names, when a new one came. */
  fill(): void {
    const { look } = this;
    const names: (string | null)[] = look.map.clusters.map(({ name }) => name);
    if (look.by === "label") names.push(...look.strangers);
    names.push(null);
    this.entries = [];
    this.list.replaceChildren(...names.map((name) => this.entry(name)));
    this.update(() => {}, false);
  }

  private entry(name: string | null): HTMLLIElement {
    const text = name === null ? (this.look.by === "label" ? "no label" : "no cluster") : this.look.title(name);
    const { made, small } = row(text, this.look.colour(name));
    made.addEventListener("click", (event) => (event.shiftKey ? this.only(name) : this.toggle(name)));
    made.addEventListener("dblclick", () => this.only(name));
    const focus = (value: string | null | undefined) => () => {
      this.look.focus = value;
      this.changed(true);
    };
    made.addEventListener("pointerenter", focus(name));
    made.addEventListener("pointerleave", focus(undefined));
    this.entries.push({ button: made, small, name });
    const item = make("li");
    item.append(made);
    // Until the points are counted, nobody knows whether there is one without a cluster.
    item.hidden = name === null;
    if (name !== null && this.look.centre(name)) {
      const pencil = button("pencil", "", () => this.rename(name, item));
      pencil.append(icon("pencil"));
      pencil.setAttribute("aria-label", `Rename ${legible(text)}`);
      pencil.title = "Rename";
      item.append(pencil);
    }
    return item;
  }

  private layer(layer: Layer, name: string): HTMLLIElement {
    const { made, small, sample } = row(name, layer === "outliers" ? OUTLIER : NONE);
    if (layer === "outliers") sample.className = "diamond";
    if (layer === "placed") sample.style.borderColor = "currentcolor";
    made.addEventListener("click", () => this.update(() => this.look.off.delete(layer) || this.look.off.add(layer)));
    this.layers.push({ layer, button: made, small });
    const item = make("li");
    item.append(made);
    return item;
  }

  private makeBy(): void {
    this.by.hidden = true;
    this.by.setAttribute("role", "group");
    this.by.setAttribute("aria-label", "Colour arrivals by");
    for (const by of ["cluster", "label"] as const) {
      const made = button("", by === "cluster" ? "Cluster" : "Label", () => {
        this.look.by = by;
        this.fill();
        this.changed(false);
      });
      made.title = by === "cluster" ? "Colour arrivals by the cluster they landed in" : "Colour arrivals by the label they came with";
      made.dataset.by = by;
      this.by.append(made);
    }
  }

  private toggle(name: string | null): void {
    this.update(() => this.look.hidden.delete(name) || this.look.hidden.add(name));
  }

  private only(name: string | null): void {
    const { hidden } = this.look;
    const alone = hidden.size === this.entries.length - 1 && !hidden.has(name);
    this.update(() => {
      hidden.clear();
      if (!alone) for (const entry of this.entries) if (entry.name !== name) hidden.add(entry.name);
    });
  }

  private update(change: () => unknown, tell = true): void {
    change();
    const { hidden, off, by } = this.look;
    for (const entry of this.entries) entry.button.setAttribute("aria-pressed", String(!hidden.has(entry.name)));
    for (const { layer, button: made } of this.layers) made.setAttribute("aria-pressed", String(!off.has(layer)));
    for (const made of this.by.children) made.setAttribute("aria-pressed", String((made as HTMLElement).dataset.by === by));
    this.all.hidden = hidden.size === 0 && off.size === 0;
    if (tell) this.changed(true);
  }

  /** What is shown, for a picture of the map. */
  lines(): Entry[] {
    const classes = this.entries.filter(({ button: made, name }) => made.parentElement?.hidden === false && !this.look.hidden.has(name));
    const entry = (made: HTMLElement, small: HTMLElement, colour: Rgb, diamond: boolean) => ({ name: made.title, colour, count: small.textContent ?? "", diamond });
    const outliers = this.layers.filter(({ layer }) => layer === "outliers" && !this.look.off.has(layer));
    return [
      ...classes.map(({ button: made, small, name }) => entry(made, small, this.look.colour(name), false)),
      ...outliers.map(({ button: made, small }) => entry(made, small, OUTLIER, true)),
    ];
  }

  /** The counts, and which clusters are vanishing. */
  count(state: State): void {
    const { look } = this;
    const counts = new Map<string | null, number>();
    let labelled = false;
    for (const point of state.points.values()) {
      labelled ||= point.label !== null;
      if (point.verdict === "outlier" && look.by === "cluster") continue;
      const name = look.by === "label" ? point.label : point.cluster;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    this.by.hidden = !labelled && look.by === "cluster";
    for (const { button: made, small, name } of this.entries) {
      const vanishing = name !== null && state.vanishing.has(name);
      made.classList.toggle("vanishing", vanishing);
      const live = counts.get(name) ?? 0;
      set(small, vanishing ? `${number(live)} ↓` : live === 0 ? "" : number(live));
      (made.parentElement as HTMLElement).hidden = name === null && live === 0 && !look.hidden.has(null);
    }
    const outliers = state.outliers;
    const totals: Record<Layer, number> = { base: look.map.rows, placed: state.points.size - outliers, outliers };
    for (const { layer, small } of this.layers) set(small, number(totals[layer]));
  }
}

function set(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function row(name: string, colour: Rgb): { made: HTMLButtonElement; small: HTMLElement; sample: HTMLElement } {
  const made = make("button", "class");
  made.type = "button";
  made.title = legible(name);
  const sample = make("i");
  sample.style.background = sample.style.borderColor = css(colour);
  const small = make("small");
  made.append(sample, make("span", "", legible(name)), small);
  return { made, small, sample };
}
