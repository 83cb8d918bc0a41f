// The events in memory: a stretch of the history without gaps, that ends with the latest.

import { isNotice, type LiveEvent, type Notice, type UpdatedEvent } from "./types";
import { subject } from "./state";

/** Events kept while nobody looks at the past; older ones are asked for again when somebody does. */
const KEPT = 100_000;

export class Log {
  private events: LiveEvent[] = [];
  /** Number of the first event in memory. */
  first = 1;
  /** The switches between versions of the map among the events, oldest first. */
  private switches: UpdatedEvent[] = [];

  get last(): number {
    return this.first + this.events.length - 1;
  }

  /** Forgets all; the next event will be the one after `last`. */
  restart(last: number): void {
    this.events = [];
    this.switches = [];
    this.first = last + 1;
  }

  at(n: number): LiveEvent | undefined {
    return this.events[n - this.first];
  }

  /** False when the event is not the next one. */
  append(event: LiveEvent): boolean {
    if (event.n !== this.last + 1) return false;
    this.events.push(event);
    if (event.kind === "map-updated") this.switches.push(event);
    return true;
  }

  /** Takes the events just before the first; those that do not join on are left out. */
  prepend(events: LiveEvent[]): number {
    const fitting = events.filter(({ n }) => n < this.first);
    if (fitting.length === 0 || fitting[fitting.length - 1].n !== this.first - 1) return 0;
    this.events = fitting.concat(this.events);
    this.switches = [...fitting.filter((event) => event.kind === "map-updated"), ...this.switches];
    this.first -= fitting.length;
    return fitting.length;
  }

  prune(): void {
    if (this.events.length < KEPT * 1.2) return;
    const gone = this.events.length - KEPT;
    this.events.splice(0, gone);
    this.first += gone;
    this.switches = this.switches.filter(({ n }) => n >= this.first);
  }

  /** The first switch to another version after event `n`. */
  nextSwitch(n: number): UpdatedEvent | undefined {
    return this.switches.find((event) => event.n > n);
  }

  /** Up to `most` events that end with number `to`. */
  upTo(to: number, most: number): LiveEvent[] {
    const end = Math.max(0, to - this.first + 1);
    return this.events.slice(Math.max(0, end - most), end);
  }

  /** The latest notice about the same thing before this one. */
  before(event: LiveEvent): Notice | undefined {
    if (!isNotice(event)) return undefined;
    const about = subject(event);
    for (let k = event.n - this.first - 1; k >= 0; k--) {
      const earlier = this.events[k];
      if (isNotice(earlier) && subject(earlier) === about) return earlier;
    }
    return undefined;
  }
}
