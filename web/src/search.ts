// Finding a point or a row of the map by its id.

import type { Columns } from "./columns";
import { byId, make } from "./dom";
import type { State } from "./state";

const MOST = 8;

export type Found = { id: string; row: null } | { id: string; row: number };

/** Live points first, the exact id before those that only hold it. */
export function find(query: string, state: State, columns: Columns, most = MOST): Found[] {
  const found: Found[] = [];
  if (query === "") return found;
  if (state.points.has(query)) found.push({ id: query, row: null });
  for (const id of state.points.keys()) {
    if (found.length >= most - 2) break;
    if (id !== query && id.includes(query)) found.push({ id, row: null });
  }
  for (const row of columns.ids.find(query, most - found.length)) found.push({ id: columns.ids.at(row), row });
  return found;
}

export class Search {
  private readonly input = byId<HTMLInputElement>("query");
  private readonly list = byId<HTMLUListElement>("matches");
  private found: Found[] = [];
  private active = 0;

  constructor(private readonly state: State, private readonly columns: Columns, private readonly go: (found: Found) => void) {
    this.input.addEventListener("input", () => this.look());
    this.input.addEventListener("focus", () => this.look());
    this.input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    this.input.addEventListener("keydown", (event) => this.key(event));
    byId("search").addEventListener("submit", (event) => event.preventDefault());
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  private look(): void {
    const query = this.input.value.trim();
    this.found = find(query, this.state, this.columns);
    this.active = 0;
    this.list.hidden = query === "";
    this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    this.list.replaceChildren(...this.found.map((found, k) => {
      const item = make("li");
      item.id = `match-${k}`;
      item.setAttribute("role", "option");
      item.append(make("span", "", found.id), make("small", "", found.row === null ? "live point" : "map row"));
      item.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        this.choose(k);
      });
      return item;
    }));
    if (this.found.length === 0) this.list.append(make("li", "none", "no such id"));
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
