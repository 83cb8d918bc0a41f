// Across the switches between versions of the map: what was where on the other side.

import { api } from "./api";
import type { Spot } from "./geometry";
import type { Log } from "./log";
import type { State } from "./state";
import { isNotice, type LiveEvent, type Notice, type Snapshot } from "./types";
import type { Version, Versions } from "./versions";

/** Milliseconds to wait for events that a snapshot already has, and between two looks. */
const PATIENCE = 5000;
const LOOK = 40;

/** All that is needed to be on the other side. */
export interface Landing { snapshot: Snapshot; version: Version; latest: boolean }

export class Journey {
  constructor(private readonly state: State, private readonly log: Log, private readonly versions: Versions) {}

  /** Whether a switch lies between the state and the moment after event `n`. */
  crosses(n: number): boolean {
    const next = this.log.nextSwitch(Math.min(this.state.last, n));
    return next !== undefined && next.n <= Math.max(this.state.last, n);
  }

  /** Asks for the points at the end of the stretch that holds a moment: just before the next switch, or now. */
  async ask(n: number): Promise<Landing> {
    for (;;) {
      const next = this.log.nextSwitch(n);
      const snapshot: Snapshot = next ? await api.beforeSwitch(next.n) : await api.live();
      const version = await this.versions.get(next?.from ?? snapshot.version ?? this.versions.latest.version);
      await this.heard(snapshot.last);
      // Meanwhile there may have been another switch.
      if (this.log.nextSwitch(n)?.n === next?.n) return { snapshot, version, latest: !next };
    }
  }

  /** Waits until all events up to one have come. */
  private async heard(n: number): Promise<void> {
    for (let waited = 0; this.log.last < n; waited += LOOK) {
      if (waited > PATIENCE) throw new Error("events are missing");
      await new Promise((done) => setTimeout(done, LOOK));
    }
  }

  /** Brings the state to the moment after event `n`. Gives where the points were before. */
  land({ snapshot, latest }: Landing, n: number): Map<string, Spot> {
    const { state, log } = this;
    const places = new Map([...state.points].map(([id, { x, y, z }]) => [id, { x, y, z }]));
    this.entitle(n);
    state.load(snapshot);
    for (let k = snapshot.last; k > n; k--) {
      const event = log.at(k);
      if (event && event.kind !== "renamed") state.undo(event, log.before(event));
    }
    state.last = n;
    // What is unusual now the server has just said; of a moment in the past, or in a recording, only its events tell.
    if (!latest || this.versions.latest.recording) state.retell(this.notices(n));
    return places;
  }

  private *notices(to: number): Generator<Notice> {
    for (let k = this.log.first; k <= to; k++) {
      const event = this.log.at(k) as LiveEvent;
      if (isNotice(event) && event.kind !== "renamed") yield event;
    }
  }

  /** Titles as they are after event `n`. */
  private entitle(n: number): void {
    const { state, log } = this;
    for (let k = state.last + 1; k <= n; k++) {
      const event = log.at(k);
      if (event?.kind === "renamed") state.apply(event);
    }
    for (let k = state.last; k > n; k--) {
      const event = log.at(k);
      if (event?.kind === "renamed") state.undo(event);
    }
  }
}
