// What happened, in words.

import type { Spot } from "./geometry";
import type { Evidence, Health, Kind, LabelCount, LiveEvent, Notice, UpdatedEvent } from "./types";
import type { State, Strange } from "./state";

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

let named: (t: number) => string | null = () => null;

/** Calls moments by names from now on, where they have any. */
export function nameMoments(name: (t: number) => string | null): void {
  named = name;
}

/** A moment by date and clock, where t counts from 1970: a recording is looked at on another day. */
export function dated(t: number): string | null {
  if (t <= 1e8) return null;
  return new Date(t * 1000).toLocaleString("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

/** A moment: by its name or, when t counts from 1970, by the clock, else in seconds. */
export function moment(t: number): string {
  const name = named(t);
  if (name !== null) return legible(name);
  if (t > 1e8) return new Date(t * 1000).toLocaleTimeString("en-GB");
  return `${Number(t.toFixed(1))} s`;
}

/** A moment with its day, unless that is today. */
export function onDay(t: number): string {
  const then = new Date(t * 1000);
  if (t <= 1e8 || then.toDateString() === new Date().toDateString()) return moment(t);
  return `${then.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${then.toLocaleTimeString("en-GB").slice(0, 5)}`;
}

/** Characters that turn the text around them, or cannot be seen. */
const CONTROLS = /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\p{Cc}]/gu;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** A name from outside as it may stand among words: what cannot be seen becomes a sign, and one that is read from right to left keeps to itself. */
export function legible(name: string): string {
  const seen = name.replace(CONTROLS, "\ufffd");
  return RIGHT_TO_LEFT.test(seen) ? `\u2068${seen}\u2069` : seen;
}

const clusterName = (name: string | null | undefined): string => (name === null || name === undefined ? "no cluster" : legible(name));
/** "cluster 3" for bare numbers, else the name alone: names are often words already. */
export const called = (name: string | null | undefined): string =>
  name !== null && name !== undefined && /^\d+$/.test(name) ? `cluster ${name}` : clusterName(name);

/** What the sentences about events need to know beside them. */
export interface Context {
  /** The cluster that most of these points are most like. */
  like(ids: readonly string[]): string | null;
  /** How many members a group had after an event, where that is known. */
  size(event: LiveEvent): number | undefined;
  /** How far a point moves a little at most. */
  little: number;
  /** What people call a cluster or `group-N`. */
  title(name: string): string;
  /** An event by its number, where it is known. */
  event(n: number): LiveEvent | undefined;
}

/** What people call a cluster, in a sentence. */
const spoken = (name: string | null | undefined, { title }: Pick<Context, "title">): string => called(name === null || name === undefined ? name : title(name));

/** "…, 71 labelled 0". */
const labelling = (label: LabelCount | undefined): string => (label ? `, ${number(label.count)} labelled ${legible(label.label)}` : "");
/** "…, most like 6". */
const likeness = (name: string | null, title: (name: string) => string): string => (name === null ? "" : `, most like ${legible(title(name))}`);

/** One event as a sentence. */
export function sentence(event: LiveEvent, context: Context): string {
  const called = (name: string | null | undefined) => spoken(name, context);
  switch (event.kind) {
    case "appeared":
      if (event.verdict === "outlier") return "landed as an outlier";
      return event.cluster === null ? "landed outside every cluster" : `landed in ${called(event.cluster)}`;
    case "stayed": return event.verdict === "outlier" ? "stayed an outlier, in its place" : "stayed in its place";
    case "moved": {
      const distance = event.distance ?? distanceOf(event);
      return `moved ${distance <= context.little ? "a little " : ""}(${short(distance)})${event.cluster === null ? "" : ` within ${called(event.cluster)}`}`;
    }
    case "changed-cluster": return `changed from ${called(event.from?.cluster)} to ${called(event.cluster)}`;
    case "became-outlier": return `became an outlier${event.from?.cluster ? `, was in ${called(event.from.cluster)}` : ""}`;
    case "joined-group": {
      const size = context.size(event);
      return `joined other outliers${size === undefined ? "" : ` (${number(size)} now)`}`;
    }
    case "returned": return `returned to ${called(event.cluster)}`;
    case "removed": return "was removed";
    default: return notice(event, context);
  }
}

function distanceOf(event: { x: number; y: number; from: { x: number; y: number } | null }): number {
  return event.from ? Math.hypot(event.x - event.from.x, event.y - event.from.y) : 0;
}

function notice(event: Notice, context: Context): string {
  const called = (name: string | null | undefined) => spoken(name, context);
  switch (event.kind) {
    case "forming": return `A new cluster is forming: ${count(event.size, "outlier")}${labelling(event.labels?.[0])}${likeness(context.like(event.ids), context.title)}${shown(event.evidence)}`;
    case "dissolved": return ended(event.size, event.evidence);
    case "vanishing": return waning({ ...event, cluster: context.title(event.cluster) });
    case "recovered": return `${capital(called(event.cluster))} receives points again`;
    case "cluster-stale": return strange(capital(called(event.cluster)), { score: event.score, evidence: event.evidence });
    case "cluster-fresh": return `Arrivals in ${called(event.cluster)} are like its rows again`;
    case "stale": return strange("The map", { score: event.score ?? 1, evidence: event.evidence });
    case "fresh": return "The map fits its arrivals again";
    case "map-updated": return updated(event, context);
    case "renamed": {
      const [was, now] = [event.before, event.title].map((title) => title ?? event.cluster ?? `group ${event.group}`);
      return `${legible(was)} was renamed to ${legible(now)}${by(event.who)}`;
    }
    case "notice": return `${told(context.event(event.notice), called)} was ${event.state === "open" ? "opened again" : event.state}${by(event.who)}${event.note ? `: ${legible(event.note)}` : ""}`;
  }
}

/** Who did it, where that is known. */
export const by = (who: string | null): string => (who === null || who === "" ? "" : ` by ${legible(who)}`);

/** What a notice told, by the event that told it. */
function told(event: LiveEvent | undefined, called: (name: string | null) => string): string {
  switch (event?.kind) {
    case "forming": return "The notice of a new cluster";
    case "vanishing": return `The notice that ${called(event.cluster)} is vanishing`;
    case "cluster-stale": return `The notice that ${called(event.cluster)} is stale`;
    case "stale": return "The notice that the map is stale";
    default: return "A notice";
  }
}

function updated({ reverted, version, added, removed, who, clusters, calibration_lost }: UpdatedEvent, { title }: Context): string {
  if (reverted) return `The map went back to version ${version}${by(who)}`;
  const names = (list: readonly { name: string; title?: string | null }[]) => list.map((one) => legible(one.title ?? title(one.name))).join(", ");
  const parts = [
    added > 0 ? `${count(added, "row")} taken in` : "", removed > 0 ? `${count(removed, "row")} left out` : "",
    clusters.born.length > 0 ? `new: ${names(clusters.born)}` : "", clusters.gone.length > 0 ? `gone: ${names(clusters.gone)}` : "",
  ];
  const lost = calibration_lost ? ". Its verdicts promise no share of outliers any more: new rows made its PCA wider. Fit the map anew to calibrate them" : "";
  return `The map was updated to version ${version}${by(who)}: ${parts.filter(Boolean).join("; ") || "its rows moved"}${lost}`;
}

/** "…: 27 of the last 300 rows, 3 expected; by chance once in 4 million rows". */
function shown(evidence: Evidence | undefined): string {
  if (!evidence || evidence.of === 0) return "";
  const { seen, of, expected, e_value } = evidence;
  return `, ${number(seen)} of the last ${count(of, "row")} where ${short(Number(expected.toPrecision(2)))} were expected. ${chance(e_value)}`;
}

/** How often as strong a false alarm comes. */
const chance = (rows: number): string => `A false alarm this strong comes once in ${large(rows)} rows`;

/** A large number in words that can be read at a glance. */
export function large(value: number): string {
  for (const [size, word] of [[1e12, "trillion"], [1e9, "billion"], [1e6, "million"]] as const) {
    if (value >= 1000 * size) return `more than ${number(1000)} ${word}`;
    if (value >= size) return `${Number((value / size).toPrecision(2))} ${word}`;
  }
  return number(Number(value.toPrecision(2)));
}

/** What no longer fits, and by how much. */
function strange(name: string, { score, evidence }: Strange): string {
  if (!evidence || evidence.of === 0) return `${name} is stale: arrivals are stranger than its own rows`;
  const { seen, of, expected, e_value } = evidence;
  const rows = `${number(seen)} of the last ${count(of, "row")}`;
  return `${name} is stale: ${rows} are among the ${percent(score)} strangest of its own, ${short(Number(expected.toPrecision(2)))} were expected. ${chance(e_value)}`;
}

function ended(size: number, evidence: Evidence | undefined): string {
  if (size === 0 || !evidence) return "A new cluster is gone: none of its outliers are left";
  return `A new cluster grows no more: none of the last ${count(evidence.of, "row")} came to its ${count(size, "outlier")}, ${short(Number(evidence.expected.toPrecision(2)))} were expected`;
}

export function waning({ cluster, expected, seen, why, evidence }: { cluster: string; expected: number; seen: number; why: string; evidence?: Evidence }): string {
  const name = capital(called(cluster));
  if (why === "left") return `${name} is vanishing: ${short(seen)} of ${count(Math.round(expected), "point")} left in it`;
  return `${name} is vanishing: ${count(seen, "arrival")} where ${short(Math.round(expected))} were expected${evidence && evidence.e_value > 0 ? `. ${chance(evidence.e_value)}` : ""}`;
}

/** A cluster at the start of a sentence; a name stays as it is written. */
export const capital = (text: string): string => text.replace(/^cluster (?=\d)/, "Cluster ").replace(/^a new cluster/, "A new cluster");

/** Many events of one kind as one line. */
export function crowd(kind: Kind, many: number, outlying: boolean): string {
  const points = count(many, "point");
  switch (kind) {
    case "appeared": return outlying ? `${count(many, "outlier")} landed` : `${points} landed`;
    case "stayed": return `${points} stayed in place`;
    case "moved": return `${points} moved a little`;
    case "changed-cluster": return `${points} changed cluster`;
    case "became-outlier": return many === 1 ? `${points} became an outlier` : `${points} became outliers`;
    case "joined-group": return `${count(many, "outlier")} joined others`;
    case "returned": return `${points} returned`;
    default: return `${points} ${many === 1 ? "was" : "were"} removed`;
  }
}

/** `about`: what it is about, as subjects of notices are named. `groups`: the outliers that an update would take in. */
export interface Alarm { about: string; groups?: number[]; tone: "forming" | "vanishing" | "stale" | "share"; text: string; short: string; x?: number; y?: number; z?: number; group?: number }

const spot = (place: Spot | undefined): Partial<Spot> => (place ? { x: place.x, y: place.y, z: place.z } : {});

/** Everything unusual now, what matters most first. `health` is null for a moment in the past. */
export function alarms(state: State, health: Health | null, like: (group: number) => string | null,
  centre: (cluster: string) => Spot | undefined): Alarm[] {
  const title = (name: string) => state.title(name);
  const called = (name: string) => spoken(name, { title });
  const list: Alarm[] = state.forming().map(({ group, groups, size, x, y, z, evidence }) => {
    const own = state.titles.get(`group-${group}`);
    const by = likeness(like(group), title);
    const name = own === undefined ? "a new cluster" : legible(own);
    const text = `${capital(name)} is forming: ${count(size, "outlier")}${labelling(state.labelOf(groups))}${by}${shown(evidence)}`;
    return { about: `group ${group}`, tone: "forming", text, short: `${name} is forming${by}`, x, y, z, group, groups: [group] };
  });
  for (const cluster of state.vanishing.values()) {
    list.push({ about: `cluster ${cluster.cluster}`, tone: "vanishing", text: waning({ ...cluster, cluster: title(cluster.cluster) }), short: `${called(cluster.cluster)} is vanishing`, ...spot(centre(cluster.cluster)) });
  }
  for (const [cluster, how] of state.shifted) {
    list.push({ about: `rows of ${cluster}`, tone: "stale", text: `${strange(capital(called(cluster)), how)}. Another class may hide in it.`, short: `${called(cluster)} is stale`, ...spot(centre(cluster)) });
  }
  if (state.stale !== null) {
    list.push({ about: "map", tone: "stale", text: `${strange("The map", state.stale)}`, short: "the map is stale" });
  }
  if (health?.excess && list.length === 0) {
    list.push({ about: "share", tone: "share", text: `More outliers than expected${shown(health.excess)}`, short: "more outliers than expected" });
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
