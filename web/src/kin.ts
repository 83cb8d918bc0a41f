// What the outliers resemble: an outlier's place does not say, but the row of the map nearest to it does.

import type { State } from "./state";
import { isNotice, type LiveEvent } from "./types";

/** A cluster that fewer than this share of the outliers resemble does not say what they are like. */
const SHARE = 0.3;

export class Kin {
  /** The row of the map that each outlier is most like. */
  private readonly rows = new Map<string, number>();

  constructor(private readonly state: State, private readonly cluster: (row: number) => string | null) {}

  /** Another version of the map is shown: its rows have other numbers. */
  renumber(rows: (row: number) => number): void {
    for (const [id, row] of this.rows) {
      const now = rows(row);
      if (now < 0) this.rows.delete(id);
      else this.rows.set(id, now);
    }
  }

  note(event: LiveEvent): void {
    if (isNotice(event)) return;
    if (event.kind === "removed" || event.verdict !== "outlier") this.rows.delete(event.id);
    else this.rows.set(event.id, event.nearest);
  }

  /** Takes what older events say of outliers that are there now. Oldest first. */
  learn(events: readonly LiveEvent[]): void {
    const found = new Map<string, number>();
    for (const event of events) {
      if (!isNotice(event) && event.kind !== "removed" && event.verdict === "outlier" && !this.rows.has(event.id)) found.set(event.id, event.nearest);
    }
    for (const [id, row] of found) this.rows.set(id, row);
  }

  group(number: number): string | null {
    return this.of(this.state.groups.get(number) ?? []);
  }

  /** The cluster that more of these are most like than any other; null where too few are known, or they are like many. */
  of(ids: Iterable<string>): string | null {
    const votes = new Map<string | null, number>();
    let [all, known] = [0, 0];
    for (const id of ids) {
      all++;
      const row = this.rows.get(id);
      if (row === undefined) continue;
      known++;
      const name = this.cluster(row);
      votes.set(name, (votes.get(name) ?? 0) + 1);
    }
    const [first, second] = [...votes].sort((a, b) => b[1] - a[1]);
    const clear = first && first[1] >= SHARE * known && first[1] > (second?.[1] ?? 0);
    return clear && 2 * known >= all ? first[0] : null;
  }
}
