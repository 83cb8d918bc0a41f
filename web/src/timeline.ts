// When events happened, and which came before a time: from those in memory, and by asking for single ones where it is longer ago.

import { api } from "./api";
import type { Edges, Range, Times } from "./stretches";

export class Timeline {
  private readonly older = new Map<number, number>();

  /** `recent` is the time of an event in memory; `ask` is for those that are not. */
  constructor(private readonly recent: (n: number) => number | undefined, private readonly ask: (n: number) => Promise<number> = timeOf) {}

  /** When an event happened, as far as that is known here. */
  known(n: number): number | undefined {
    return this.recent(n) ?? this.older.get(n);
  }

  /** Another history is told. */
  forget(): void {
    this.older.clear();
  }

  async time(n: number): Promise<number> {
    const known = this.known(n);
    if (known !== undefined) return known;
    const t = await this.ask(n);
    this.older.set(n, t);
    return t;
  }

  /** The times that hold the events between the edges, from that of the first to that of the last. */
  async times([a0, a1, b0, b1]: Edges): Promise<Times> {
    return Promise.all([this.time(a0 + 1), this.time(a1), this.time(b0 + 1), this.time(b1)]);
  }

  /** The edges around the events of some times, both ends included. */
  async edges([a0, a1, b0, b1]: Times, range: Range): Promise<Edges> {
    const before = (limit: number) => this.last(range, (t) => t < limit);
    const upTo = (limit: number) => this.last(range, (t) => t <= limit);
    return Promise.all([before(a0), upTo(a1), before(b0), upTo(b1)]);
  }

  /** The last event of a range whose time passes, else where the range begins. Times never fall. */
  private async last([first, last]: Range, passes: (t: number) => boolean): Promise<number> {
    let [low, high] = [first, last];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (passes(await this.time(middle))) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

async function timeOf(n: number): Promise<number> {
  const { events: [event] } = await api.before(n + 1, 1);
  // What is not kept any more was before all that is.
  return event?.n === n ? event.t : -Infinity;
}
