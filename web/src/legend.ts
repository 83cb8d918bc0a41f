// The legend: what the colours mean, how many live points each class has, and switches that hide and show.

import { button, icon, make } from "./dom";
import type { MergedCluster } from "./explained";
import type { Layer, Look } from "./look";
import { css, NONE, OUTLIER, type Rgb } from "./palette";
import type { Entry } from "./poster";
import type { State } from "./state";
import { legible, number } from "./words";

/** A name that hides and shows: of one class, or of all that the overview takes together. */
interface Switch { button: HTMLButtonElement; small: HTMLElement; names: readonly (string | null)[]; part: boolean }

const LAYERS: [Layer, string][] = [["base", "Base map"], ["placed", "Arrivals"], ["outliers", "Outliers"]];

export class Legend {
  private entries: Switch[] = [];
  private layers: { layer: Layer; button: HTMLButtonElement; small: HTMLElement }[] = [];
  private readonly list = make("ul");
  private readonly by = make("div", "by");
  private readonly all: HTMLButtonElement;
  /** The clusters of the overview that are open, by the largest of theirs. */
  private readonly opened = new Set<string>();

  constructor(private readonly root: HTMLElement, private readonly look: Look, private readonly changed: (base: boolean) => void, private readonly rename: (name: string, beside: HTMLElement) => void) {
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
    const merged = new Set(look.merged.flatMap(({ clusters }) => clusters));
    const names: (string | null)[] = look.map.clusters.map(({ name }) => name).filter((name) => !merged.has(name));
    if (look.by === "label") names.push(...look.strangers);
    names.push(null);
    this.entries = [];
    this.list.replaceChildren(...look.merged.map((one) => (one.clusters.length > 1 ? this.overview(one) : this.entry(one.clusters[0]))), ...names.map((name) => this.entry(name)));
    this.list.classList.toggle("merged", look.merged.length > 0);
    this.update(() => {}, false);
  }

  private switch(text: string, names: Switch["names"], part = false): Switch {
    const { made, small } = row(text, this.look.colour(names[0]));
    made.addEventListener("click", (event) => (event.shiftKey ? this.only(names) : this.toggle(names)));
    made.addEventListener("dblclick", () => this.only(names));
    const focus = (value: Switch["names"] | undefined) => () => {
      this.look.focus = value;
      this.changed(true);
    };
    made.addEventListener("pointerenter", focus(names));
    made.addEventListener("pointerleave", focus(undefined));
    const entry = { button: made, small, names, part };
    this.entries.push(entry);
    return entry;
  }

  /** A cluster of the overview, which opens to show those that it is made of. */
  private overview(merged: MergedCluster): HTMLLIElement {
    const { clusters } = merged;
    const text = this.look.mergedTitle(merged);
    const entry = this.switch(text, clusters);
    const parts = make("ul", "parts");
    parts.append(...clusters.map((name) => this.entry(name, true)));
    const opener = button("opener", "›", () => open(parts.hidden));
    opener.title = `The ${clusters.length} clusters of ${legible(text)}`;
    opener.setAttribute("aria-label", opener.title);
    const open = (on: boolean) => {
      parts.hidden = !on;
      opener.setAttribute("aria-expanded", String(on));
      if (on) this.opened.add(clusters[0]);
      else this.opened.delete(clusters[0]);
    };
    open(this.opened.has(clusters[0]));
    const item = make("li");
    item.append(entry.button, opener, parts);
    return item;
  }

  /** Shows where a cluster is in the legend, and marks it. */
  reveal(name: string): void {
    for (const { button: made } of this.entries) made.classList.remove("told");
    const entry = this.entries.find(({ names }) => names.length === 1 && names[0] === name);
    if (!entry) return;
    const parts = entry.button.closest<HTMLElement>(".parts");
    if (parts?.hidden) (parts.previousElementSibling as HTMLElement).click();
    entry.button.classList.add("told");
    // The legend scrolls, and not the page: on a phone the map would leave the screen.
    const { top, height } = this.root.getBoundingClientRect();
    this.root.scrollTop += entry.button.getBoundingClientRect().top - top - height / 3;
  }

  private entry(name: string | null, part = false): HTMLLIElement {
    const none = this.look.by === "label" ? "no label" : this.look.clustered ? "no cluster" : "no value";
    const text = name === null ? none : this.look.title(name);
    const item = make("li");
    item.append(this.switch(text, [name], part).button);
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

  private toggle(names: Switch["names"]): void {
    const { hidden } = this.look;
    const hide = names.some((name) => !hidden.has(name));
    this.update(() => names.forEach((name) => (hide ? hidden.add(name) : hidden.delete(name))));
  }

  private only(names: Switch["names"]): void {
    const { hidden } = this.look;
    const others = this.entries.flatMap((entry) => entry.names).filter((name) => !names.includes(name));
    const alone = others.every((name) => hidden.has(name)) && !names.some((name) => hidden.has(name));
    this.update(() => {
      hidden.clear();
      if (!alone) for (const name of others) hidden.add(name);
    });
  }

  private update(change: () => unknown, tell = true): void {
    change();
    const { hidden, off, by } = this.look;
    for (const { button: made, names } of this.entries) {
      const shown = names.filter((name) => !hidden.has(name)).length;
      made.setAttribute("aria-pressed", shown === 0 ? "false" : shown === names.length ? "true" : "mixed");
    }
    for (const { layer, button: made } of this.layers) made.setAttribute("aria-pressed", String(!off.has(layer)));
    for (const made of this.by.children) made.setAttribute("aria-pressed", String((made as HTMLElement).dataset.by === by));
    this.all.hidden = hidden.size === 0 && off.size === 0;
    if (tell) this.changed(true);
  }

  /** What is shown, for a picture of the map. */
  lines(): Entry[] {
    const classes = this.entries.filter(({ button: made, names, part }) => !part && made.parentElement?.hidden === false && names.some((name) => !this.look.hidden.has(name)));
    const entry = (made: HTMLElement, small: HTMLElement, colour: Rgb, diamond: boolean) => ({ name: made.title, colour, count: small.textContent ?? "", diamond });
    const outliers = this.layers.filter(({ layer }) => layer === "outliers" && !this.look.off.has(layer));
    return [
      ...classes.map(({ button: made, small, names }) => entry(made, small, this.look.colour(names[0]), false)),
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
    for (const { button: made, small, names } of this.entries) {
      const vanishing = names.some((name) => name !== null && state.vanishing.has(name));
      // Of several, only some are: they are the ones to be drawn fainter.
      made.classList.toggle("vanishing", vanishing && names.length === 1);
      const live = names.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);
      set(small, vanishing ? `${number(live)} ↓` : live === 0 ? "" : number(live));
      (made.parentElement as HTMLElement).hidden = names[0] === null && live === 0 && !look.hidden.has(null);
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
