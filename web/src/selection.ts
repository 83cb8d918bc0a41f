// The selection: what the lasso caught or a search found, as a table and as CSV.

import { api } from "./api";
import { csv } from "./csv";
import { button, download, make } from "./dom";
import { cut } from "./fields";
import { insideOf, type Place } from "./geometry";
import type { Flat } from "./grid";
import type { Look } from "./look";
import type { Point, State } from "./state";
import { Summary } from "./summary";
import type { ShownRows } from "./types";
import type { Version } from "./versions";
import { count, legible, number, short } from "./words";

/** Rows that the table shows; the CSV has them all. */
const SHOWN = 200;
/** Rows whose columns for people are asked for at once. */
const ASKED = 1000;
const HEADING = ["source", "id", "label", "cluster", "verdict", "score", "group", "x", "y", "z", "t"];

export interface SelectionWays {
  goPoint(id: string): void;
  goRow(row: number): void;
  changed(): void;
}

export class Selection {
  readonly ids = new Set<string>();
  rows: number[] = [];
  private readonly bar = make("div", "bar");
  private readonly sum = make("b");
  private readonly table = make("table");
  private readonly body: HTMLTableSectionElement;
  private readonly rest = make("p", "none");
  private readonly summary = new Summary();
  /** The lines of the table by what they are about. */
  private readonly lines = new Map<string, HTMLTableRowElement>();

  constructor(
    private readonly root: HTMLElement,
    private readonly tab: HTMLElement,
    private readonly state: State,
    private readonly shown: Version,
    private readonly look: Look,
    private readonly ways: SelectionWays,
  ) {
    const save = button("first", "CSV", () => void this.save());
    save.title = "Save the selection as CSV";
    this.bar.append(this.sum, save, button("", "Clear", () => this.clear()));
    const head = this.table.createTHead().insertRow();
    for (const name of ["id", "label", "cluster", "verdict", "score", ...this.columns]) {
      const cell = make("th", "", name);
      cell.scope = "col";
      head.append(cell);
    }
    this.body = this.table.createTBody();
    // Columns for people need room of their own: the table is then wider than the panel, which scrolls.
    if (this.columns.length > 0) this.table.style.minWidth = `${400 + 130 * this.columns.length}px`;
    this.show();
  }

  /** The columns that the map keeps for people; images have no place in a table. */
  private get columns(): string[] {
    return (this.look.map.shown ?? []).filter(({ kind }) => kind !== "image").map(({ name }) => name);
  }

  /** Whether the clusters of the map's rows are their labels. */
  private get labelled(): boolean {
    return this.look.map.clusters_from === "labels";
  }

  get size(): number {
    return this.ids.size + this.rows.length;
  }

  /** Takes everything shown within a polygon of the plane that is looked at: `rows` of the map, and live points where they are drawn. */
  lasso(polygon: readonly Place[], { x, y, rows }: Flat, drawn: (point: Point) => Place): void {
    const within = insideOf(polygon);
    this.ids.clear();
    this.rows = [];
    for (const point of this.state.points.values()) {
      const at = drawn(point);
      if (within(at.x, at.y) && this.look.of(point)) this.ids.add(point.id);
    }
    for (let row = 0; row < rows; row++) {
      if (within(x[row], y[row]) && this.look.showsRow(row)) this.rows.push(row);
    }
    this.changed();
  }

  /** Another version of the map is shown: its rows have other numbers. */
  renumber(rows: (row: number) => number): void {
    this.rows = this.rows.map(rows).filter((row) => row >= 0);
    this.show();
  }

  choose(ids: string[], rows: number[]): void {
    this.ids.clear();
    for (const id of ids) this.ids.add(id);
    this.rows = rows;
    this.changed();
  }

  clear(): void {
    if (this.size > 0) this.choose([], []);
  }

  private changed(): void {
    this.show();
    this.ways.changed();
  }

  /** The selected points that are there at this moment. */
  private points(): Point[] {
    return [...this.ids].map((id) => this.state.points.get(id)).filter((point) => point !== undefined);
  }

  /** Brings the table up to date. Lines that stay are the same elements, so that who reads or stands on one is not disturbed. */
  refresh(): void {
    const points = this.points();
    const size = points.length + this.rows.length;
    set(this.tab, this.size > 0 ? `Selection (${number(size)})` : "Selection");
    if (this.root.hidden || this.size === 0) return;
    const parts = [this.ids.size > 0 ? `${number(points.length)} live` : "", this.rows.length > 0 ? count(this.rows.length, "map row") : ""];
    set(this.sum, parts.filter(Boolean).join(", "));
    this.fill(points);
    const more = size - SHOWN;
    const gone = this.ids.size - points.length;
    const said = [gone > 0 ? `${count(gone, "selected point")} ${gone === 1 ? "is" : "are"} not on the map now.` : "", more > 0 ? `${count(more, "more row")} in the CSV.` : ""];
    set(this.rest, said.filter(Boolean).join(" "));
  }

  private show(): void {
    this.lines.clear();
    this.body.replaceChildren();
    if (this.size === 0) this.root.replaceChildren(make("p", "none", "Nothing is selected. Draw around points with the lasso (l, or shift and drag), click one, or find its id."));
    else this.root.replaceChildren(this.bar, this.summary.root, this.table, this.rest);
    this.refresh();
    this.summary.show(this.rows, this.points().map(({ id }) => id), this.shown.info);
  }

  /** Lines for these points and the rows of the map, each made once. */
  private fill(points: Point[]): void {
    const wanted = new Map<string, () => HTMLTableRowElement>();
    for (const point of points.slice(0, SHOWN)) wanted.set(`point ${point.id}`, () => this.pointLine(point.id));
    for (const row of this.rows.slice(0, Math.max(0, SHOWN - points.length))) wanted.set(`row ${row}`, () => this.rowLine(row));
    for (const [key, line] of this.lines) {
      if (wanted.has(key)) continue;
      line.remove();
      this.lines.delete(key);
    }
    let before: Element | null = null;
    for (const [key, made] of wanted) {
      const line: HTMLTableRowElement = this.lines.get(key) ?? made();
      this.lines.set(key, line);
      const next: Element | null = before ? before.nextElementSibling : this.body.firstElementChild;
      if (next !== line) this.body.insertBefore(line, next);
      before = line;
    }
    void this.fillShown();
    for (const { id, label, cluster, verdict, score } of points.slice(0, SHOWN)) {
      const { cells } = this.lines.get(`point ${id}`) as HTMLTableRowElement;
      [legible(label ?? "–"), legible(cluster === null ? "–" : this.look.title(cluster)), verdict, short(score)].forEach((text, k) => set(cells[k + 1], text));
      cells[3].className = verdict;
    }
  }

  private pointLine(id: string): HTMLTableRowElement {
    return line("", button("", legible(id), () => this.ways.goPoint(id)), ["", "", "", "", ...this.columns.map(() => "")]);
  }

  private rowLine(row: number): HTMLTableRowElement {
    const name = this.look.clusterOfRow(row);
    const cluster = name === null ? "–" : legible(this.look.title(name));
    const go = button("", legible(this.shown.columns.ids.at(row)), () => this.ways.goRow(row));
    const made = line("base", go, [this.labelled ? legible(name ?? "–") : "–", cluster, "map row", "–", ...this.columns.map(() => "")]);
    if (made.cells.length > 5) made.cells[5].dataset.asked = "";
    return made;
  }

  /** Hands out the selection, with the columns for people where the server has them. */
  private async save(): Promise<void> {
    download("lion-selection.csv", new Blob([this.csv(await this.shownOf(this.rows))], { type: "text/csv" }));
  }

  /** The columns for people of rows of the map, by row; none where nobody can tell. */
  private async shownOf(rows: readonly number[]): Promise<Map<number, (string | number | null)[]>> {
    const of = new Map<number, (string | number | null)[]>();
    if (this.columns.length === 0) return of;
    for (let start = 0; start < rows.length; start += ASKED) {
      const some = rows.slice(start, start + ASKED);
      const answer: ShownRows | null = await api.shown(some).catch(() => null);
      const places = this.columns.map((name) => answer?.columns.indexOf(name) ?? -1);
      some.forEach((row, k) => of.set(row, places.map((at) => answer?.rows[k]?.[at] ?? null)));
    }
    return of;
  }

  /** Fills in the columns for people of the lines that have none yet. */
  private async fillShown(): Promise<void> {
    const empty = this.rows.slice(0, SHOWN).filter((row) => this.lines.get(`row ${row}`)?.cells[5]?.dataset.asked === "");
    if (this.columns.length === 0 || empty.length === 0) return;
    for (const row of empty) delete this.lines.get(`row ${row}`)?.cells[5].dataset.asked;
    for (const [row, values] of await this.shownOf(empty)) {
      const cells = this.lines.get(`row ${row}`)?.cells;
      values.forEach((value, k) => cells?.[k + 5] && set(cells[k + 5], cut(String(value ?? ""), 120)));
    }
  }

  csv(shown = new Map<number, (string | number | null)[]>()): string {
    const { look, labelled, shown: { columns } } = this;
    const people = this.columns;
    const none = people.map(() => null);
    const space = columns.z !== null;
    const points = this.points();
    const rows = this.rows;
    function* lines(): Generator<(string | number | null)[]> {
      for (const p of points) yield ["live", p.id, p.label, p.cluster, p.verdict, p.score, p.group, p.x, p.y, ...(space ? [p.z ?? null] : []), p.t, ...none];
      for (const row of rows) {
        const cluster = look.clusterOfRow(row);
        yield ["map", columns.ids.at(row), labelled ? cluster : null, cluster, null, null, null, columns.x[row], columns.y[row], ...(columns.z ? [columns.z[row]] : []), null, ...(shown.get(row) ?? none)];
      }
    }
    return csv([...HEADING.filter((name) => space || name !== "z"), ...people], lines());
  }
}

function set(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
  if (element instanceof HTMLTableCellElement && element.title !== text) element.title = text;
}

/** A line of the table: its id, then what is said of it. */
function line(className: string, go: HTMLElement, cells: readonly string[]): HTMLTableRowElement {
  const made = make("tr", className);
  go.title = go.textContent ?? "";
  made.insertCell().append(go);
  for (const text of cells) set(made.insertCell(), text);
  return made;
}
