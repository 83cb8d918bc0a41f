// From one version of the map to another before a person's eyes: one crossing at a time, and what happens meanwhile waits.

import type { Spot } from "./geometry";
import type { Journey } from "./journey";
import type { Log } from "./log";
import type { State } from "./state";
import type { UpdatedEvent } from "./types";
import type { Version, Versions } from "./versions";

/** Milliseconds before another try. */
const AGAIN = 1000;

export interface CrossingWays {
  /** Goes to a moment on this side of all switches. */
  travel(n: number): void | Promise<void>;
  /** The state is that after event `n`, in the version that is shown now. `happening` is the switch, if it happens now. */
  landed(n: number, happening: UpdatedEvent | null): void;
  /** Brings the page over from the version before; `places` are those of the points there. Resolves when all is where it belongs. */
  renew(before: Version, places: ReadonlyMap<string, Spot>, seconds: number): Promise<void>;
  arrived(happening: UpdatedEvent): void;
  failed(problem: string): void;
}

export class Crossing {
  private latest: Promise<void> | null = null;

  constructor(private readonly state: State, private readonly log: Log, private readonly versions: Versions, private readonly journey: Journey, private readonly ways: CrossingWays) {}

  /** Whether one is under way. */
  get busy(): boolean {
    return this.latest !== null;
  }

  /** Goes to the moment after event `n`, on the other side of a switch between versions. One after the other. */
  go(n: number, seconds: number): Promise<void> {
    const crossing = (this.latest ?? Promise.resolve()).then(() => this.cross(n, seconds)).finally(() => {
      if (this.latest === crossing) this.latest = null;
    });
    this.latest = crossing;
    return crossing;
  }

  private async cross(n: number, seconds: number): Promise<void> {
    if (!this.journey.crosses(n)) return this.ways.travel(n);
    try {
      await this.pass(n, seconds);
    } catch (error) {
      this.ways.failed(`The other version of the map could not be fetched: ${error instanceof Error ? error.message : String(error)}.`);
      await new Promise((done) => setTimeout(done, AGAIN));
    }
  }

  private async pass(n: number, seconds: number): Promise<void> {
    const { log, state, versions, ways } = this;
    const landing = await this.journey.ask(n);
    const event = log.at(n);
    const happening = event?.kind === "map-updated" && state.last < n ? event : null;
    const places = this.journey.land(landing, n);
    const before = versions.show(landing.version);
    if (landing.latest) versions.latest = landing.version.info;
    ways.landed(n, happening);
    await ways.renew(before, places, seconds);
    if (happening) ways.arrived(happening);
  }
}
