// The selection: what the lasso caught or a search found, as a table and as CSV.

import type { Columns } from "./columns";
import { csv } from "./csv";
import { button, download, make } from "./dom";
import { insideOf, type Place } from "./geometry";
import type { Look } from "./look";
import type { Point, State } from "./state";
import { count, number, short } from "./words";

/** Rows that the table shows; the CSV has them all. */
const SHOWN = 200;
const HEADING = ["source", "id", "label", "cluster", "verdict", "score", "group", "x", "y", "t"];

export interface SelectionWays {
  goPoint(id: string): void;
  goRow(row: number): void;
  changed(): void;
}

export class Selection {
  readonly ids = new Set<string>();
  rows: number[] = [];
  private version = "";

  constructor(
    private readonly root: HTMLElement,
    private readonly tab: HTMLElement,
    private readonly state: State,
    private readonly columns: Columns,
    private readonly look: Look,
    private readonly ways: SelectionWays,
  ) {
    this.show();
  }

  /** Whether the clusters of the map's rows are their labels. */
  private get labelled(): boolean {
    return this.look.map.clusters_from === "labels";
  }

  get size(): number {
    return this.ids.size + this.rows.length;
  }

  /** Takes everything shown within a polygon of the map; live points where they are drawn. */
  lasso(polygon: readonly Place[], drawn: (point: Point) => Place): void {
    const within = insideOf(polygon);
    this.ids.clear();
    this.rows = [];
    for (const point of this.state.points.values()) {
      const { x, y } = drawn(point);
      if (within(x, y) && this.look.of(point)) this.ids.add(point.id);
    }
    const { x, y, rows } = this.columns;
    for (let row = 0; row < rows; row++) {
      if (within(x[row], y[row]) && this.look.showsRow(this.columns, row)) this.rows.push(row);
    }
    this.changed();
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

  /** Writes the table anew if a point in it has changed. */
  refresh(): void {
    if (this.ids.size === 0 || this.root.hidden) return;
    const version = this.points().slice(0, SHOWN).map((point) => `${point.id} ${point.t}`).join();
    if (version !== this.version) this.show();
  }

  show(): void {
    this.tab.textContent = this.size > 0 ? `Selection (${this.size.toLocaleString("en")})` : "Selection";
    if (this.size === 0) {
      this.root.replaceChildren(make("p", "none", "Nothing is selected. Draw around points with the lasso (l, or shift and drag), click one, or find its id."));
      return;
    }
    const points = this.points();
    this.version = points.slice(0, SHOWN).map((point) => `${point.id} ${point.t}`).join();
    const bar = make("div", "bar");
    const parts = [this.ids.size > 0 ? `${number(this.ids.size)} live` : "", this.rows.length > 0 ? count(this.rows.length, "map row") : ""];
    const save = button("first", "CSV", () => download("lion-selection.csv", new Blob([this.csv()], { type: "text/csv" })));
    save.title = "Save the selection as CSV";
    bar.append(make("b", "", parts.filter(Boolean).join(", ")), save, button("", "Clear", () => this.clear()));
    this.root.replaceChildren(bar, this.table(points));
    const more = this.size - SHOWN;
    if (more > 0) this.root.append(make("p", "none", `${count(more, "more row")} in the CSV.`));
  }

  private table(points: Point[]): HTMLTableElement {
    const table = make("table");
    const head = table.createTHead().insertRow();
    for (const name of ["id", "label", "cluster", "verdict", "score"]) {
      const cell = make("th", "", name);
      cell.scope = "col";
      head.append(cell);
    }
    const body = table.createTBody();
    const add = (className: string, cells: (string | HTMLElement)[], verdict: string) => {
      const line = body.insertRow();
      line.className = className;
      for (const cell of cells) line.insertCell().append(cell);
      line.cells[3].className = verdict;
      line.cells[3].title = verdict;
    };
    for (const { id, label, cluster, verdict, score } of points.slice(0, SHOWN)) {
      add("", [button("", id, () => this.ways.goPoint(id)), label ?? "–", cluster ?? "–", verdict, short(score)], verdict);
    }
    for (const row of this.rows.slice(0, Math.max(0, SHOWN - points.length))) {
      const go = button("", this.columns.ids.at(row), () => this.ways.goRow(row));
      const cluster = this.look.clusterOfRow(this.columns, row) ?? "–";
      add("base", [go, this.labelled ? cluster : "–", cluster, "map row", "–"], "map-row");
    }
    return table;
  }

  csv(): string {
    const { columns, look, labelled } = this;
    const points = this.points();
    const rows = this.rows;
    function* lines(): Generator<(string | number | null)[]> {
      for (const p of points) yield ["live", p.id, p.label, p.cluster, p.verdict, p.score, p.group, p.x, p.y, p.t];
      for (const row of rows) {
        const cluster = look.clusterOfRow(columns, row);
        yield ["map", columns.ids.at(row), labelled ? cluster : null, cluster, null, null, null, columns.x[row], columns.y[row], null];
      }
    }
    return csv(HEADING, lines());
  }
}
