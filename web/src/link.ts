// The connection: listens, notices a loss, tries again, and goes on after the last event it has.

import { api, Refusal } from "./api";
import type { Health, LiveEvent, MapInfo } from "./types";

const WAITS = [1, 2, 3, 5, 8, 10]; // seconds before each new try
/** The server says its health every second; silence for so long means the connection is dead without saying so. */
const SILENCE = 8_000;

export interface Listener {
  /** The last event that arrived. */
  last(): number;
  event(event: LiveEvent): void;
  health(health: Health): void;
  live(): void;
  lost(seconds: number, reason: string): void;
  /** Another map is served here now. */
  replaced(): void;
  /** The last event as it arrived. */
  latest(): LiveEvent | undefined;
  /** Events are missing: take everything anew. `why` in words, where a person should know. */
  reload(why?: string): Promise<void>;
}

export class Link {
  private close: (() => void) | null = null;
  private tries = 0;
  private timer = 0;
  private heard = 0;
  private heartbeat = false;

  constructor(private readonly map: () => MapInfo, private readonly on: Listener) {
    setInterval(() => {
      if (this.close && this.heartbeat && performance.now() - this.heard > SILENCE) this.drop("the server went silent");
    }, 1000);
  }

  listen(): void {
    this.close?.();
    this.heard = performance.now();
    this.heartbeat = false;
    this.close = api.listen(this.on.last(), {
      open: () => {
        this.tries = 0;
        this.on.live();
      },
      event: (event) => {
        this.heard = performance.now();
        const next = this.on.last() + 1;
        if (event.n > next) void this.renew();
        else if (event.n === next) this.on.event(event);
      },
      health: (health) => {
        this.heard = performance.now();
        this.heartbeat = true;
        this.on.health(health);
      },
      lost: () => this.drop("the server does not answer"),
    });
  }

  /** Does not wait for the next try. */
  now(): void {
    clearTimeout(this.timer);
    void this.retry();
  }

  private drop(reason: string): void {
    this.close?.();
    this.close = null;
    this.wait(WAITS[Math.min(this.tries, WAITS.length - 1)], reason);
    this.tries++;
  }

  private wait(seconds: number, reason: string): void {
    this.on.lost(seconds, reason);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => (seconds > 1 ? this.wait(seconds - 1, reason) : void this.retry()), 1000);
  }

  /** An event source cannot say why it was refused, so the map is asked first: same map, and are all events kept? */
  private async retry(): Promise<void> {
    try {
      const map = await api.map();
      // Another map of the same version is another map; another version comes with an event.
      if (map.checksum !== this.map().checksum && map.version === this.map().version) return this.on.replaced();
      const last = this.on.last();
      if (map.last < last || !(await this.same())) await this.on.reload("The server started over: its history begins anew.");
      else if (map.first > last + 1) await this.on.reload("Some events were missed: the server does not keep them any more. The map shows what is true now.");
      this.listen();
    } catch (error) {
      this.drop(error instanceof Refusal ? error.message : "the server does not answer");
    }
  }

  /** Whether the server's history is the one that was heard: it may have started over and come farther than before. */
  private async same(): Promise<boolean> {
    const mine = this.on.latest();
    if (!mine) return true;
    const { events } = await api.before(mine.n + 1, 1);
    const its = events[events.length - 1];
    return its?.n !== mine.n || (its.t === mine.t && its.kind === mine.kind);
  }

  /** Takes everything anew and goes on from there. */
  async renew(): Promise<void> {
    this.close?.();
    this.close = null;
    try {
      await this.on.reload();
      this.listen();
    } catch {
      this.drop("the server does not answer");
    }
  }
}
