// The map in a notebook: the dashboard's own stage, legend, cards and lasso, fed by a Python object in the place of a server.
// anywidget brings it to Jupyter, VS Code, marimo and Colab.

import { parseColumns } from "./columns";
import { button, byId, icon, inside, make } from "./dom";
import { thin } from "./geometry";
import { Guide } from "./guide";
import { Legend } from "./legend";
import { Look } from "./look";
import { bytesOf, floats, type Model, Kernel } from "./kernel";
import { placedPoints, type PlacedColumns } from "./placed";
import { Pointer } from "./pointer";
import { Ramp } from "./ramp";
import { Selection } from "./selection";
import sprite from "./sprite.svg?raw";
import { Stage } from "./stage";
import { State } from "./state";
import dashboard from "./style.css?inline";
import { readTheme, type Theme, type ThemeSource } from "./theme";
import type { Cluster, MapInfo, PlacedEvent } from "./types";
import { Versions, type Version } from "./versions";
import own from "./widget.css?inline";

/** How rows are coloured: clusters and the one of each row; `ramp` has the ends of a ramp and its name; `labels`: by the labels of the map, and not by another column. */
interface Colouring { clusters: Cluster[]; codes: DataView; ramp: { name: string; low: string; high: string; note: string } | null; title: string; labels?: boolean }

/** The style of the dashboard, for a part of a page: how wide the page is says nothing of the widget. */
function styled(): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(dashboard.replace(/:root(\[[^\]]+\])/g, ":host($1)").replaceAll(":root", ":host") + own);
  for (let k = sheet.cssRules.length - 1; k >= 0; k--) {
    const rule = sheet.cssRules[k];
    if (rule instanceof CSSMediaRule && rule.conditionText.includes("width")) sheet.deleteRule(k);
  }
  return sheet;
}

const clock = (): number => performance.now() / 1000;
const seconds = (): number => Date.now() / 1000;

/** The elements that stage, pointer and cards look for. */
function furnish(root: ShadowRoot, height: number): void {
  root.adoptedStyleSheets = [styled()];
  const symbols = make("template");
  symbols.innerHTML = sprite;
  const widget = make("div", "widget");
  widget.style.height = `${height}px`;
  const named = <K extends "aside" | "div" | "canvas" | "p">(tag: K, id: string) => Object.assign(make(tag), { id });
  const stage = named("div", "stage");
  const over = named("canvas", "over");
  over.tabIndex = 0;
  over.setAttribute("role", "application");
  over.setAttribute("aria-label", "The map. Drag to move it, use the wheel to zoom, shift and drag to select.");
  const hint = Object.assign(named("p", "turn-hint"), { textContent: "Drag to turn the map", hidden: true });
  const card = Object.assign(named("div", "card"), { hidden: true });
  card.setAttribute("role", "tooltip");
  const said = named("p", "said");
  said.className = "unseen";
  said.setAttribute("aria-live", "polite");
  stage.append(named("canvas", "base"), named("canvas", "live"), over, named("p", "selected"), tools(), hint, card, said);
  const legend = named("aside", "legend");
  legend.setAttribute("aria-label", "Legend");
  widget.append(legend, stage);
  root.append(symbols.content, widget);
}

function tools(): HTMLElement {
  const bar = make("div", "tools");
  bar.setAttribute("role", "toolbar");
  for (const [id, title, face] of [["lasso", "Lasso (or shift and drag)", "lasso"], ["turn", "Drag to turn the map", "turn"], ["nearer", "Zoom in", "+"], ["farther", "Zoom out", "−"], ["fit", "Show the whole map", "fit"]]) {
    const made = button("", face.length === 1 ? face : "", () => {});
    if (face.length > 1) made.append(icon(face));
    Object.assign(made, { id, title }).setAttribute("aria-label", title);
    bar.append(made);
  }
  return bar;
}

/** Whether the page around the widget is dark, as each kind of notebook says it. */
function isDark(): boolean {
  const { body, documentElement: page } = document;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (body.dataset.vscodeThemeKind) return !body.dataset.vscodeThemeKind.includes("light");
  if (page.getAttribute("theme")) return page.getAttribute("theme") === "dark";
  if (page.dataset.theme ?? body.dataset.theme) return (page.dataset.theme ?? body.dataset.theme) === "dark";
  if (page.classList.contains("dark") || body.classList.contains("dark")) return true;
  return matchMedia("(prefers-color-scheme: dark)").matches && !page.classList.contains("light");
}

/** The colours that go with the notebook's. */
class NotebookTheme implements ThemeSource {
  current: Theme;
  private readonly listeners: (() => void)[] = [];
  private readonly observer = new MutationObserver(() => this.refresh());

  constructor(private readonly host: HTMLElement) {
    this.current = this.read();
    const attributes = { attributes: true, attributeFilter: ["class", "data-jp-theme-light", "data-vscode-theme-kind", "data-theme", "theme"] };
    this.observer.observe(document.body, attributes);
    this.observer.observe(document.documentElement, attributes);
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  close(): void {
    this.observer.disconnect();
  }

  private read(): Theme {
    const dark = isDark();
    this.host.dataset.theme = dark ? "dark" : "light";
    return readTheme(this.host, dark);
  }

  private refresh(): void {
    if (isDark() === this.current.dark) return;
    this.current = this.read();
    for (const listener of this.listeners) listener();
  }
}

/** One view of a map. */
class MapView {
  private readonly state = new State();
  private readonly shown: Version;
  private readonly look: Look;
  private readonly stage: Stage;
  private readonly legend: Legend;
  private readonly ramp: Ramp;
  private readonly selection: Selection;
  private readonly guide: Guide;
  private readonly pointer: Pointer;
  private readonly kernel: Kernel;
  private readonly theme: NotebookTheme;
  private readonly count: HTMLElement;
  private readonly legendRoot: HTMLElement;
  private n = 0;
  private before = clock();
  /** The selection came from Python: it need not be told there. */
  private told = false;
  private open = true;
  private seen = true;
  private readonly watch: IntersectionObserver;

  constructor(private readonly model: Model, host: HTMLElement) {
    this.kernel = new Kernel(model);
    this.theme = new NotebookTheme(host);
    const columns = parseColumns(bytesOf(model.get("_places") as DataView));
    const info = model.get("_info") as MapInfo;
    this.shown = { info, columns };
    this.classify();
    this.look = new Look(this.shown, this.state);
    this.stage = new Stage(this.shown, this.state, this.look, this.theme, clock);
    this.legendRoot = byId("legend");
    this.legend = new Legend(this.legendRoot, this.look, () => this.stage.recolour(), () => {});
    this.ramp = new Ramp(this.legendRoot);
    this.count = byId("selected");
    // The table of the dashboard's selection is not shown here: Python has the rows.
    const aside = Object.assign(make("div"), { hidden: true });
    this.selection = new Selection(aside, make("span"), this.state, this.shown, this.look, { goPoint: () => {}, goRow: () => {}, changed: () => this.selected() });
    const announce = (text: string) => {
      said.textContent = text;
    };
    const said = byId("said");
    this.guide = new Guide(this.stage, this.state, new Versions(this.shown), this.look, this.selection, announce, this.kernel);
    this.pointer = new Pointer(this.stage, byId<HTMLButtonElement>("lasso"), byId<HTMLButtonElement>("turn"), {
      hover: (picked, x, y) => this.guide.hover(picked, x, y),
      click: (picked, at) => this.guide.click(picked, at),
      name: () => {},
      lasso: (path) => {
        const polygon = thin(path, 2).map(({ x, y }) => this.stage.camera.toPlane(x, y));
        this.selection.lasso(polygon, this.stage.rows(), (point) => {
          const at = this.stage.screen(point);
          return this.stage.camera.toPlane(at.x, at.y);
        });
        this.stage.scene.selected.outline = polygon;
      },
    });
    this.listen();
    this.coloured();
    this.land(false);
    this.choose();
    this.watch = new IntersectionObserver(([{ isIntersecting }]) => {
      this.seen = isIntersecting;
      if (isIntersecting) this.frame();
    });
    this.watch.observe(host);
    this.frame();
  }

  private listen(): void {
    const zoom = (factor: number) => () => {
      this.stage.camera.zoomAt(factor);
      this.stage.view();
    };
    byId("nearer").addEventListener("click", zoom(1.5));
    byId("farther").addEventListener("click", zoom(1 / 1.5));
    byId("fit").addEventListener("click", () => this.stage.fit());
    byId("over").addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.selection.clear();
    });
    this.theme.onChange(() => this.legend.fill());
    this.kernel.on("change:_color", () => {
      this.classify();
      this.look.restart();
      this.coloured();
      this.stage.reclassify();
      this.guide.renew();
    });
    this.kernel.on("change:_placed", () => this.land(true));
    this.kernel.on("change:_selected", () => this.choose());
  }

  /** The clusters that the rows are coloured by. */
  private classify(): void {
    const { clusters, codes } = this.model.get("_color") as Colouring;
    this.shown.info = { ...this.shown.info, clusters };
    this.shown.columns = { ...this.shown.columns, cluster: new Uint32Array(bytesOf(codes)) };
  }

  /** The legend of the colours. */
  private coloured(): void {
    const { ramp, clusters, title, labels } = this.model.get("_color") as Colouring;
    this.look.clustered = labels === true;
    this.legend.fill();
    this.ramp.show(ramp && { ...ramp, colours: clusters.map(({ colour }) => colour ?? [0, 0, 0]) }, title);
    for (const point of this.state.points.values()) point.cluster = point.verdict === "outlier" ? null : this.clusterNear(point.id);
    this.legend.count(this.state);
  }

  private readonly nearest = new Map<string, number>();

  /** A placed row is in the cluster of the nearest row of the map; what that row has in another column is no value of its own. */
  private clusterNear(id: string): string | null {
    const row = this.nearest.get(id);
    return row === undefined || !this.look.clustered ? null : this.look.clusterOfRow(row);
  }

  /** Placed rows: those that are new land before the person's eyes. */
  private land(animated: boolean): void {
    const columns = this.model.get("_placed") as PlacedColumns;
    const there = new Set<string>();
    for (const { point, nearest } of placedPoints(columns, floats)) {
      const { id } = point;
      there.add(id);
      this.nearest.set(id, nearest);
      const before = this.state.points.get(id);
      const same = before && before.x === point.x && before.y === point.y && before.verdict === point.verdict && before.group === point.group;
      if (same) continue;
      const event: PlacedEvent = {
        ...point, cluster: point.verdict === "outlier" ? null : this.clusterNear(id), n: ++this.n, t: seconds(),
        kind: before ? "moved" : "appeared", nearest, from: before ?? null,
      };
      this.look.meet(event.label);
      const step = this.state.apply(event);
      if (animated) this.stage.play(event, step);
    }
    for (const id of [...this.state.points.keys()].filter((known) => !there.has(known))) this.remove(id);
    if (!animated) this.stage.reload(seconds());
    this.legend.fill();
    this.legend.count(this.state);
  }

  private remove(id: string): void {
    const from = this.state.points.get(id);
    if (!from) return;
    const event = { n: ++this.n, t: seconds(), kind: "removed" as const, id, from };
    this.stage.play(event, this.state.apply(event));
  }

  /** The selection as Python has it. */
  private choose(): void {
    const { rows, placed } = this.model.get("_selected") as { rows: DataView; placed: DataView };
    const ids = [...this.state.points.keys()];
    this.told = true;
    this.selection.choose([...new Uint32Array(bytesOf(placed))].map((k) => ids[k]).filter((id) => id !== undefined), [...new Uint32Array(bytesOf(rows))]);
    this.stage.scene.selected.outline = [];
    this.told = false;
  }

  /** The selection changed: here and in Python. */
  private selected(): void {
    const { ids, rows, size } = this.selection;
    Object.assign(this.stage.scene.selected, { ids, rows, ...(size === 0 && { outline: [] }) });
    this.stage.touch();
    this.count.textContent = size > 0 ? `${size.toLocaleString("en")} selected` : "";
    if (this.told) return;
    const order = new Map([...this.state.points.keys()].map((id, k) => [id, k]));
    const placed = Uint32Array.from([...ids].flatMap((id) => order.get(id) ?? []));
    this.kernel.tell("_selected", { rows: new DataView(Uint32Array.from(rows).buffer), placed: new DataView(placed.buffer) });
  }

  private frame(): void {
    if (!this.open || !this.seen) return;
    requestAnimationFrame(() => this.frame());
    const now = clock();
    this.pointer.frame();
    this.guide.frame();
    this.stage.frame(now, now - this.before);
    this.before = now;
  }

  close(): void {
    this.open = false;
    this.watch.disconnect();
    this.theme.close();
    this.kernel.close();
    // A page has room for few contexts, and a cell that is run again would keep its old ones.
    this.stage.close();
  }
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const host = make("div");
  el.append(host);
  const root = host.attachShadow({ mode: "open" });
  furnish(root, Number(model.get("height")));
  let view: MapView | null = null;
  // Notebooks render before they put the element into the page, where it has neither a size nor colours.
  const shown = new ResizeObserver(() => {
    if (host.clientWidth === 0) return;
    shown.disconnect();
    view = inside(root, () => new MapView(model, host));
  });
  shown.observe(host);
  return () => {
    shown.disconnect();
    view?.close();
  };
}

export default { render };
