// What selected points have in common, against the rest: columns and words that set them apart.

import { api } from "./api";
import { make } from "./dom";
import type { ExplainedCluster, ExplainedColumn, MapInfo } from "./types";
import { count, legible, number } from "./words";

const percent = (share: number): string => `${share > 0 && share < 0.1 ? (100 * share).toFixed(1) : Math.round(100 * share)} %`;
const date = (days: number): string => new Date(Math.round(days) * 864e5).toISOString().slice(0, 10);
function brief(value: number): string {
  const size = Math.abs(value);
  if (size >= 10_000) return number(Math.round(value));
  if (size >= 1000) return String(Math.round(value)); // a year has no comma
  return size > 0 && size < 0.001 ? value.toExponential(2) : String(Number(value.toPrecision(3)));
}

/** Inside against outside, in the units of the column. */
export function contrast({ kind, value, inside, outside }: ExplainedColumn): string {
  const show = (one: number | null) => (one === null ? "–" : { number: brief, date, category: percent }[kind](one));
  return `${value === null ? "" : `${legible(value)}: `}${show(inside)} against ${show(outside)}`;
}

/** An effect with its standard error. */
export const effectText = ({ effect, error }: ExplainedColumn): string => `${effect < 0 ? "−" : "+"}${Math.abs(effect).toFixed(2)} ± ${error.toFixed(2)}`;

export class Summary {
  readonly root = make("section", "summary");
  private asked = 0;

  constructor() {
    this.root.setAttribute("aria-label", "What the selection has in common");
    this.root.hidden = true;
  }

  /** Asks what these have in common; of one point, or of the whole map, there is nothing to tell. */
  show(rows: readonly number[], ids: readonly string[], { rows: all, version, recording }: MapInfo): void {
    const asked = ++this.asked;
    const size = rows.length + ids.length;
    this.root.hidden = size < 2 || rows.length === all || Boolean(recording);
    if (this.root.hidden) return;
    const heading = make("h3", "", `What sets these ${count(size, "point")} apart from the other ${count(all - rows.length, "row")} of the map`);
    const wait = make("p", "faint", "Comparing…");
    this.root.replaceChildren(heading, wait);
    api.explain(rows, ids, version).then((answer) => this.parts(answer), (error: Error) => [make("p", "faint", legible(error.message))]).then((parts) => {
      if (asked === this.asked) this.root.replaceChildren(heading, ...parts);
    });
  }

  private parts({ columns, keyword_shares: keywords }: ExplainedCluster): HTMLElement[] {
    const parts: HTMLElement[] = [];
    if (keywords.length > 0) {
      const line = make("p", "keywords");
      for (const { word, share, share_outside: outside } of keywords) {
        const item = make("span", "", legible(word));
        item.title = `in ${percent(share)} of these texts, ${percent(outside)} of the others`;
        line.append(item);
      }
      parts.push(line);
    }
    if (columns.length > 0) {
      const list = make("dl", "effects");
      for (const column of columns) {
        const effect = make("dd", "effect", effectText(column));
        effect.title = `${column.effect < 0 ? "lower" : "higher"} by ${Math.abs(column.effect).toFixed(2)} standard deviations of all rows, and its standard error`;
        list.append(make("dt", "", legible(column.column)), make("dd", "", contrast(column)), effect);
      }
      parts.push(list);
    }
    return parts.length > 0 ? parts : [make("p", "faint", "Nothing that the map knows sets them apart.")];
  }
}
