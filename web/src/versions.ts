// The versions of the map: the one that is shown, and those that were asked for.

import { api } from "./api";
import type { Columns } from "./columns";
import type { MapInfo } from "./types";

/** What a version of the map is: what is said of it, and its rows. Everybody who draws or tells of rows holds the one that is shown, which is replaced in place. */
export interface Version { info: MapInfo; columns: Columns }

/** Versions kept in memory beside the one shown. */
const KEPT = 3;

export class Versions {
  /** What the server serves now, whatever is shown. */
  latest: MapInfo;
  private readonly kept = new Map<number, Promise<Version>>();

  constructor(readonly shown: Version) {
    this.latest = shown.info;
    this.keep(shown.info.version, Promise.resolve({ ...shown }));
  }

  /** Whether the version that is shown is the one that the server answers about. */
  get current(): boolean {
    return this.shown.info.version === this.latest.version;
  }

  get(number: number): Promise<Version> {
    const found = this.kept.get(number);
    if (found) return found;
    const asked = Promise.all([api.map(number), api.columns(number)]).then(([info, columns]) => ({ info, columns }));
    asked.catch(() => this.kept.delete(number));
    return this.keep(number, asked);
  }

  private keep(number: number, version: Promise<Version>): Promise<Version> {
    this.kept.set(number, version);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value as number);
    return version;
  }

  /** Shows another version; gives the one that was shown. */
  show(version: Version): Version {
    const before = { ...this.shown };
    Object.assign(this.shown, version);
    return before;
  }
}
