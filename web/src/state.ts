// What is where, as of one event: folded forwards by events and backwards by their `from`.

import { isNotice, type Evidence, type Health, type LabelCount, type LiveEvent, type LiveSnapshot, type MapInfo, type Notice, type Past, type RenamedEvent, type Snapshot } from "./types";

export interface Point extends Past { id: string }
/** A new cluster: one or more groups of outliers, named by one of them. */
export interface Gathering { group: number; groups: number[]; size: number; x: number; y: number; z?: number; evidence?: Evidence }
export interface Waning { cluster: string; expected: number; seen: number; why: "arrivals" | "left"; evidence?: Evidence }
/** Scores that are not what they were. */
export interface Strange { score: number; evidence?: Evidence }

/** What one event did to one point: null = it was not there, or is not there any more. */
export interface Step { id: string; was: Point | null; now: Point | null }

/** The id of what was renamed. */
const titled = ({ cluster, group }: RenamedEvent): string => cluster ?? `group-${group}`;

/** What a notice is about: a later notice about the same thing replaces it. */
export function subject(notice: Notice): string {
  switch (notice.kind) {
    case "forming":
    case "dissolved": return `group ${notice.group}`;
    case "vanishing":
    case "recovered": return `cluster ${notice.cluster}`;
    case "cluster-stale":
    case "cluster-fresh": return `rows of ${notice.cluster}`;
    case "renamed": return `title of ${titled(notice)}`;
    case "notice": return `notice ${notice.notice}`;
    case "map-updated": return "version";
    default: return "map";
  }
}

export class State {
  readonly points = new Map<string, Point>();
  /** Members of each outlier group. */
  readonly groups = new Map<number, Set<string>>();
  /** Number of the event that this is the state after. */
  last = 0;
  outliers = 0;
  /** What showed that the map is stale, null while it is fresh. */
  stale: Strange | null = null;
  readonly vanishing = new Map<string, Waning>();
  /** Clusters whose arrivals are no longer like their rows. */
  readonly shifted = new Map<string, Strange>();
  private readonly announced = new Map<number, Gathering>();
  /** Titles that people gave, by the name of a cluster or `group-N`. */
  readonly titles = new Map<string, string>();
  /** Names made of what is known of clusters, for those that nobody has given a title. */
  named: ReadonlyMap<string, string> = new Map();

  /** Starts over from what the server says is true now. */
  load(snapshot: Snapshot | LiveSnapshot): void {
    this.points.clear();
    this.groups.clear();
    this.outliers = 0;
    this.stale = null;
    const { points: p } = snapshot;
    for (let i = 0; i < p.id.length; i++) {
      this.put({
        id: p.id[i], label: p.label[i], x: p.x[i], y: p.y[i], ...(p.z && { z: p.z[i] }), verdict: p.verdict[i], score: p.score[i],
        group: p.group[i], cluster: p.cluster[i], t: p.t[i],
      });
    }
    this.last = snapshot.last;
    if ("health" in snapshot) this.adopt(snapshot.health);
  }

  /** What a cluster is called. */
  title(name: string): string {
    return this.titles.get(name) ?? this.named.get(name) ?? name;
  }

  /** The titles that the server knows. */
  retitle({ clusters }: Pick<MapInfo, "clusters">, { groups }: Snapshot): void {
    this.titles.clear();
    for (const { name, title } of clusters) this.entitle(name, title ?? null);
    for (const { number, title } of groups) this.entitle(`group-${number}`, title ?? null);
  }

  /** A cluster or a group has another title, or none. */
  private entitle(id: string, title: string | null): void {
    if (title === null) this.titles.delete(id);
    else this.titles.set(id, title);
  }

  /** What the notices up to a moment say, where nothing but them is known: oldest first. All that was said before a switch has ended with it, but for clusters that still form. */
  retell(notices: Iterable<Notice>): void {
    this.announced.clear();
    this.settleAlarms();
    for (const notice of notices) this.heed(notice);
  }

  /** Alarms about the map as it was end with it. */
  private settleAlarms(): void {
    this.vanishing.clear();
    this.shifted.clear();
    this.stale = null;
  }

  /** The server knows what the window says now: some things end without an event. */
  adopt(health: Health): void {
    this.announced.clear();
    for (const { group, groups, size, x, y, z, evidence } of health.forming) this.announced.set(group, { group, groups, size, x, y, ...depth(z), evidence });
    this.vanishing.clear();
    for (const waning of health.vanishing) this.vanishing.set(waning.cluster, waning);
    this.shifted.clear();
    for (const { cluster, score, evidence } of health.shifted) this.shifted.set(cluster, { score, evidence });
    this.stale = health.stale && { score: health.stale.score, evidence: health.stale.evidence };
  }

  /** Groups that are a new cluster forming, the largest first. */
  forming(): Gathering[] {
    return [...this.announced.values()]
      .map((gathering) => ({ ...gathering, size: gathering.groups.reduce((sum, group) => sum + (this.groups.get(group)?.size ?? 0), 0) }))
      .filter(({ size }) => size > 0)
      .sort((a, b) => b.size - a.size || a.group - b.group);
  }

  /** The label that most members of some groups carry, and how many. */
  labelOf(groups: readonly number[]): LabelCount | undefined {
    const counts = new Map<string, number>();
    for (const group of groups) for (const id of this.groups.get(group) ?? []) {
      const label = this.points.get(id)?.label;
      if (label !== null && label !== undefined) counts.set(label, (counts.get(label) ?? 0) + 1);
    }
    const [most] = [...counts].sort((a, b) => b[1] - a[1]);
    return most && { label: most[0], count: most[1] };
  }

  isForming(group: number): boolean {
    for (const { groups } of this.announced.values()) if (groups.includes(group)) return true;
    return false;
  }

  /** The next event happens. Null for a notice, which moves no point. */
  apply(event: LiveEvent): Step | null {
    this.last = event.n;
    if (isNotice(event)) {
      this.heed(event);
      return null;
    }
    if (event.kind === "removed") return this.replace(event.id, null);
    return this.replace(event.id, pointOf(event.id, event));
  }

  /** The latest event has not happened. `before` is the latest earlier notice about the same thing, where one is known. */
  undo(event: LiveEvent, before?: Notice): Step | null {
    this.last = event.n - 1;
    if (isNotice(event)) {
      this.forget(event);
      if (before && event.kind !== "renamed") this.heed(before);
      return null;
    }
    return this.replace(event.id, event.from && pointOf(event.id, event.from));
  }

  private heed(notice: Notice): void {
    switch (notice.kind) {
      case "forming": {
        const { group, size, x, y, z, evidence } = notice;
        this.announced.set(group, { group, groups: notice.groups ?? [group], size, x, y, ...depth(z), evidence });
        break;
      }
      case "dissolved":
        this.announced.delete(notice.group);
        break;
      case "cluster-stale":
        this.shifted.set(notice.cluster, { score: notice.score, evidence: notice.evidence });
        break;
      case "cluster-fresh":
        this.shifted.delete(notice.cluster);
        break;
      case "vanishing":
        this.vanishing.set(notice.cluster, notice);
        break;
      case "recovered":
        this.vanishing.delete(notice.cluster);
        break;
      case "renamed":
        this.entitle(titled(notice), notice.title);
        break;
      case "map-updated":
        this.settleAlarms();
        if (notice.still_forming) for (const group of this.announced.keys()) if (!notice.still_forming.includes(group)) this.announced.delete(group);
        break;
      case "stale":
        this.stale = { score: notice.score ?? 1, evidence: notice.evidence };
        break;
      case "fresh":
        this.stale = null;
    }
  }

  private forget(notice: Notice): void {
    if (notice.kind === "notice" || notice.kind === "map-updated") return;
    if (notice.kind === "renamed") this.entitle(titled(notice), notice.before);
    else if ("group" in notice) this.announced.delete(notice.group);
    else if (notice.kind === "cluster-stale" || notice.kind === "cluster-fresh") this.shifted.delete(notice.cluster);
    else if ("cluster" in notice) this.vanishing.delete(notice.cluster);
    else this.stale = null;
  }

  private replace(id: string, now: Point | null): Step {
    const was = this.points.get(id) ?? null;
    if (was && now && was.group === now.group && was.verdict === now.verdict) {
      // It keeps its rank among the members of its group, and so its place on the screen.
      this.points.set(id, now);
      return { id, was, now };
    }
    if (was) this.take(was);
    if (now) this.put(now);
    return { id, was, now };
  }

  private put(point: Point): void {
    this.points.set(point.id, point);
    if (point.verdict === "outlier") this.outliers++;
    if (point.group === null) return;
    const members = this.groups.get(point.group);
    if (members) members.add(point.id);
    else this.groups.set(point.group, new Set([point.id]));
  }

  private take(point: Point): void {
    this.points.delete(point.id);
    if (point.verdict === "outlier") this.outliers--;
    if (point.group === null) return;
    const members = this.groups.get(point.group);
    members?.delete(point.id);
    if (members?.size === 0) this.groups.delete(point.group);
  }
}

function pointOf(id: string, past: Past): Point {
  const { t, x, y, z, verdict, score } = past;
  return { id, t, x, y, ...depth(z), verdict, score, group: past.group ?? null, cluster: past.cluster ?? null, label: past.label ?? null };
}

/** The third coordinate, where there is one. */
const depth = (z: number | undefined): { z?: number } => (z === undefined ? {} : { z });
