// The numbers behind the charts: from the server for now, from the log for a moment in the past.

import type { Figures } from "./charts";
import type { Log } from "./log";
import type { State } from "./state";
import type { Health } from "./types";

const BUCKETS = 30;
/** After so many seconds without an event there is no rate to speak of. */
const QUIET = 30;

/** Now, where times are those of a clock (seconds since 1970); else the latest time there is. */
export const wallClock = (latest: number): number => (latest > 1e8 ? Math.max(latest, Date.now() / 1000) : latest);

/** `quiet`: seconds since the latest event. The server's numbers are as of that event. `limit`: staleness that the operator wants to be told of. */
export function figuresNow(health: Health, state: State, quiet: number, limit: number | null): Figures {
  return {
    quiet, rate: quiet > QUIET ? 0 : health.rate, share: health.outlier_share, promised: health.promised, staleness: health.staleness,
    stale: state.stale !== null, limit, excess: health.excess !== null, arrivals: health.arrivals, window: health.window, series: health.series,
  };
}

/** As far as the events tell: rate and share of outliers in the window before the state's moment. */
export function figuresThen(log: Log, state: State, window: number, promised: number | null): Figures {
  const end = log.at(state.last)?.t ?? 0;
  const arrivals = new Array<number>(BUCKETS).fill(0);
  const outliers = new Array<number>(BUCKETS).fill(0);
  let [all, odd] = [0, 0];
  for (let n = state.last; n >= log.first; n--) {
    const event = log.at(n);
    if (!event || event.t <= end - window) break;
    if (!("verdict" in event)) continue;
    const bucket = Math.min(BUCKETS - 1, Math.max(0, Math.floor(((event.t - (end - window)) / window) * BUCKETS)));
    arrivals[bucket]++;
    all++;
    if (event.verdict !== "outlier") continue;
    outliers[bucket]++;
    odd++;
  }
  return {
    quiet: 0, rate: all / window, share: all > 0 ? odd / all : 0, promised, staleness: null, stale: state.stale !== null, limit: null, excess: false, arrivals: all, window,
    series: { t: [], arrivals, outliers, staleness: new Array<null>(BUCKETS).fill(null) },
  };
}
