// What happened, in words.

import type { Health, Kind, LiveEvent, Notice } from "./types";
import type { State } from "./state";

const whole = new Intl.NumberFormat("en");
/** A count with its noun: 1 point, 2 points. */
export const count = (n: number, noun: string): string => `${whole.format(n)} ${noun}${n === 1 ? "" : "s"}`;
export const number = (n: number): string => whole.format(n);

/** A quantity with as many digits as say something. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 100) return whole.format(Math.round(value));
  if (size < 0.001) return value.toExponential(0);
  return String(Number(value.toPrecision(size < 1 ? 2 : 3)));
}

export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  const value = share * 100;
  return `${value >= 10 || value === 0 ? Math.round(value) : Number(value.toPrecision(2))} %`;
}

export function rate(perSecond: number): string {
  if (perSecond >= 1 || perSecond === 0) return `${short(Number(perSecond.toPrecision(perSecond >= 100 ? 3 : 2)))}/s`;
  return `${short(Number((perSecond * 60).toPrecision(2)))}/min`;
}

/** A moment: by the clock when t counts from 1970, else in seconds. */
export function moment(t: number): string {
  if (t > 1e8) return new Date(t * 1000).toLocaleTimeString("en-GB");
  return `${Number(t.toFixed(1))} s`;
}

const clusterName = (name: string | null | undefined): string => name ?? "no cluster";
/** "cluster 3" for bare numbers, else the name alone: names are often words already. */
export const called = (name: string | null | undefined): string =>
  name !== null && name !== undefined && /^\d+$/.test(name) ? `cluster ${name}` : clusterName(name);

/** One event as a sentence; `near` names the cluster around a place, `little` is how far a point moves a little at most. */
export function sentence(event: LiveEvent, near: (x: number, y: number) => string | null, little = Infinity): string {
  switch (event.kind) {
    case "appeared":
      if (event.verdict === "outlier") return "landed as an outlier";
      return event.cluster === null ? "landed outside every cluster" : `landed in ${called(event.cluster)}`;
    case "stayed": return event.verdict === "outlier" ? "stayed an outlier, in its place" : "stayed in its place";
    case "moved": {
      const distance = event.distance ?? distanceOf(event);
      return `moved ${distance <= little ? "a little " : ""}(${short(distance)})${event.cluster === null ? "" : ` within ${called(event.cluster)}`}`;
    }
    case "changed-cluster": return `changed from ${called(event.from?.cluster)} to ${called(event.cluster)}`;
    case "became-outlier": return `became an outlier${event.from?.cluster ? `, was in ${called(event.from.cluster)}` : ""}`;
    case "joined-group": return `joined outlier group ${event.group}`;
    case "returned": return `returned to ${called(event.cluster)}`;
    case "removed": return "was removed";
    default: return notice(event, near);
  }
}

function distanceOf(event: { x: number; y: number; from: { x: number; y: number } | null }): number {
  return event.from ? Math.hypot(event.x - event.from.x, event.y - event.from.y) : 0;
}

export function notice(event: Notice, near: (x: number, y: number) => string | null): string {
  switch (event.kind) {
    case "forming": {
      const where = near(event.x, event.y);
      return `Outliers are gathering: a new cluster of ${event.size}${where === null ? "" : ` near ${where}`}`;
    }
    case "vanishing": return waning(event);
    case "recovered": return `${capital(called(event.cluster))} receives points again`;
    case "stale": return `The map is stale (${short(event.staleness)}): arrivals lie farther out than its own rows`;
    case "fresh": return `The map fits its arrivals again (${short(event.staleness)})`;
  }
}

export function waning({ cluster, expected, seen, why }: { cluster: string; expected: number; seen: number; why: string }): string {
  const name = capital(called(cluster));
  if (why === "left") return `${name} is vanishing: ${short(seen)} of ${short(expected)} points left in it`;
  return `${name} is vanishing: ${count(seen, "arrival")} where ${short(Math.round(expected))} were expected`;
}

/** A cluster at the start of a sentence; a name stays as it is written. */
const capital = (text: string): string => text.replace(/^cluster (?=\d)/, "Cluster ");

/** Many events of one kind as one line. */
export function crowd(kind: Kind, many: number, outlying: boolean): string {
  const points = count(many, "point");
  switch (kind) {
    case "appeared": return outlying ? `${count(many, "outlier")} landed` : `${points} landed`;
    case "stayed": return `${points} stayed in place`;
    case "moved": return `${points} moved a little`;
    case "changed-cluster": return `${points} changed cluster`;
    case "became-outlier": return `${points} became outliers`;
    case "joined-group": return `${points} joined outlier groups`;
    case "returned": return `${points} returned`;
    default: return `${points} ${many === 1 ? "was" : "were"} removed`;
  }
}

export interface Alarm { tone: "forming" | "vanishing" | "stale" | "share"; text: string; short: string; x?: number; y?: number; group?: number }

/** Everything unusual now, what matters most first. `health` is null for a moment in the past. */
export function alarms(state: State, health: Health | null, stale: number | null, near: (x: number, y: number) => string | null,
  centre: (cluster: string) => { x: number; y: number } | undefined): Alarm[] {
  const list: Alarm[] = state.forming().map(({ group, size, x, y }) => {
    const where = near(x, y);
    const by = where === null ? "" : ` near ${where}`;
    return { tone: "forming", text: `A new cluster is forming${by}: ${count(size, "outlier")} gathered there`, short: `a new cluster is forming${by}`, x, y, group };
  });
  for (const cluster of state.vanishing.values()) {
    list.push({ tone: "vanishing", text: waning(cluster), short: `${called(cluster.cluster)} is vanishing`, ...centre(cluster.cluster) });
  }
  if (stale !== null) {
    list.push({ tone: "stale", text: `The map is stale (${short(stale)}): arrivals lie farther out than its own rows. Consider a new fit.`, short: "the map is stale" });
  }
  const excess = health && health.promised !== null && health.arrivals >= 50 && health.outlier_share > 3 * health.promised;
  if (excess && list.length === 0) {
    list.push({ tone: "share", text: `${percent(health.outlier_share)} of arrivals are outliers; the radius promises ${percent(health.promised)}`, short: "more outliers than promised" });
  }
  return list;
}

/** The whole situation as one line. */
export function status(state: State, list: readonly Alarm[]): string {
  const parts = [count(state.points.size, "point"), state.outliers === 0 ? "no outliers" : count(state.outliers, "outlier")];
  const forming = list.filter(({ tone }) => tone === "forming");
  const others = list.filter(({ tone }) => tone !== "forming");
  if (forming.length > 1) parts.push(`${forming.length} new clusters are forming`);
  else parts.push(...forming.map(({ short: text }) => text));
  const room = 2 - Math.min(forming.length, 1);
  if (others.length <= room) parts.push(...others.map(({ short: text }) => text));
  else parts.push(...others.slice(0, room - 1).map(({ short: text }) => text), `${others.length - room + 1} more warnings`);
  if (list.length === 0) parts.push("nothing unusual");
  return parts.join(" · ");
}
