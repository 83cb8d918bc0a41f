// When events happened, and which came before a time: from those in memory, and by asking for single ones where it is longer ago.

import { api } from "./api";
import type { Edges, Range, Times } from "./stretches";

/** A stretch that ends with the latest event ends so many seconds after it. */
const INSTANT = 0.001;

const all = async (four: Edges, each: (one: number) => Promise<number>): Promise<Edges> => (await Promise.all(four.map(each))) as unknown as Edges;

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

  /** The times of the events between the edges: a stretch goes from its first event to the one after its last. */
  async times(edges: Edges, last: number): Promise<Times> {
    return all(edges, async (n) => (n < last ? this.time(n + 1) : (await this.time(n)) + INSTANT));
  }

  /** The edges around the events of some times. */
  async edges(times: Times, range: Range): Promise<Edges> {
    return all(times, (limit) => this.last(range, (t) => t < limit));
  }

  /** The edges, each brought to the nearest place where time goes on: what came at once is in one stretch. */
  async apart(edges: Edges, range: Range): Promise<Edges> {
    return all(edges, async (n) => {
      if (n <= range[0] || n >= range[1]) return n;
      const [t, next] = [await this.time(n), await this.time(n + 1)];
      if (t < next) return n;
      const [before, after] = [await this.last(range, (other) => other < t), await this.last(range, (other) => other <= t)];
      return n - before < after - n ? before : after;
    });
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
