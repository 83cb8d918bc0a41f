// Finding a point or a row of the map by its id.

import type { Columns } from "./columns";
import { byId, make } from "./dom";
import type { State } from "./state";
import type { Version } from "./versions";
import { legible, number } from "./words";

const MOST = 8;
/** Ids beyond so many are not counted. */
const COUNTED = 1000;

export type Found = { id: string; row: null } | { id: string; row: number };

/** Live points first, the exact id before those that only hold it; `more` is how many there are beside these. */
export function find(query: string, state: State, columns: Columns, most = MOST): { found: Found[]; more: number } {
  if (query === "") return { found: [], more: 0 };
  const ids = state.points.has(query) ? [query] : [];
  for (const id of state.points.keys()) {
    if (id !== query && id.includes(query)) ids.push(id);
    if (ids.length >= COUNTED) break;
  }
  const rows = [...columns.ids.find(query, COUNTED)];
  // Some room is left for the rows of the map, where there are any.
  const live = ids.slice(0, Math.max(most - rows.length, most - 2));
  const found: Found[] = [...live.map((id) => ({ id, row: null })), ...rows.slice(0, most - live.length).map((row) => ({ id: columns.ids.at(row), row }))];
  return { found, more: ids.length + rows.length - found.length };
}

export class Search {
  private readonly input = byId<HTMLInputElement>("query");
  private readonly list = byId<HTMLUListElement>("matches");
  private found: Found[] = [];
  private active = 0;
  private leaving = 0;

  constructor(private readonly state: State, private readonly shown: Version, private readonly go: (found: Found) => void) {
    this.input.addEventListener("input", () => this.look());
    this.input.addEventListener("focus", () => this.look());
    this.input.addEventListener("blur", () => {
      this.leaving = window.setTimeout(() => this.close(), 150);
    });
    this.input.addEventListener("keydown", (event) => this.key(event));
    byId("search").addEventListener("submit", (event) => event.preventDefault());
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  private look(): void {
    clearTimeout(this.leaving);
    const query = this.input.value.trim();
    const { found, more } = find(query, this.state, this.shown.columns);
    this.found = found;
    this.active = 0;
    this.list.hidden = query === "";
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    this.list.replaceChildren(...this.found.map((found, k) => {
      const item = make("li");
      item.id = `match-${k}`;
      item.setAttribute("role", "option");
      item.append(make("span", "", legible(found.id)), make("small", "", found.row === null ? "live point" : "map row"));
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        this.choose(k);
      });
      return item;
    }));
    if (this.found.length === 0) this.list.append(make("li", "none", "no such id"));
    else if (more > 0) this.list.append(make("li", "more", `and ${more + found.length >= COUNTED ? "many" : number(more)} more`));
    this.mark();
  }

  private mark(): void {
    [...this.list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === this.active && this.found.length > 0)));
    if (this.found.length > 0) this.input.setAttribute("aria-activedescendant", `match-${this.active}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Enter") this.choose(this.active);
    else if (event.key === "Escape") {
      this.close();
      this.input.blur();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.active = (this.active + step + this.found.length) % Math.max(this.found.length, 1);
      this.mark();
      event.preventDefault();
    }
    event.stopPropagation();
  }

  private choose(k: number): void {
    const found = this.found[k];
    if (!found) return;
    this.close();
    this.input.blur();
    this.go(found);
  }

  private close(): void {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }
}
