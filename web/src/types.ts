// What the server says, as it says it.

import type { RecordedStep } from "./moments";

export type Verdict = "exact" | "interpolated" | "beside-outlier" | "outlier";

/** Where and what a point was before an event: enough to undo it. */
export interface Past {
  t: number;
  x: number;
  y: number;
  /** In space only, here and below. */
  z?: number;
  verdict: Verdict;
  score: number;
  group: number | null;
  cluster: string | null;
  label: string | null;
}

export type PlacedKind =
  | "appeared" | "moved" | "stayed" | "changed-cluster" | "became-outlier" | "joined-group" | "returned";

/** A point was placed: it is new, or its row changed. */
export interface PlacedEvent extends Past {
  n: number;
  kind: PlacedKind;
  id: string;
  /** The row of the map that it is most like; a recording knows it of outliers alone, and has nothing of the next four. */
  nearest: number;
  nearest_id?: string;
  nearest_distance?: number;
  neighbours?: number;
  distance?: number | null;
  from: Past | null;
}

export interface RemovedEvent { n: number; t: number; kind: "removed"; id: string; from: Past }

/** What an alarm is decided by. Events of older stores have none. */
export interface Evidence {
  seen: number;
  /** Among so many arrivals. */
  of: number;
  expected: number;
  /** Chance alone brings it so high once in as many arrivals. */
  e_value: number;
  since: number;
}

/** How many members of a group carry a label. */
export interface LabelCount { label: string; count: number }

export interface FormingEvent {
  n: number; t: number; kind: "forming" | "dissolved"; group: number; groups?: number[]; labels?: LabelCount[]; size: number; x: number; y: number; z?: number; ids: string[];
  evidence?: Evidence;
}
export interface VanishingEvent {
  n: number; t: number; kind: "vanishing"; cluster: string; expected: number; seen: number; why: "arrivals" | "left"; evidence?: Evidence;
}
export interface RecoveredEvent { n: number; t: number; kind: "recovered"; cluster: string; evidence?: Evidence }
export interface ShiftedEvent { n: number; t: number; kind: "cluster-stale" | "cluster-fresh"; cluster: string; score: number; evidence: Evidence }
export interface StaleEvent {
  n: number; t: number; kind: "stale" | "fresh"; staleness: number; arrivals: number; score?: number; evidence?: Evidence;
}

/** Another version of the map is served: all points have other places. */
export interface UpdatedEvent {
  n: number; t: number; kind: "map-updated"; version: number; from: number; reverted: boolean; who: string | null;
  rows: number; added: number; removed: number; points: number; taken_in: number; calibration_lost?: boolean;
  /** New clusters that go on forming, by the groups that name them. */
  still_forming?: number[];
  clusters: {
    born: { name: string; title: string | null; rows: number; x: number; y: number; z?: number; groups?: number[] }[];
    gone: { name: string }[];
    moved: { name: string; distance: number }[];
  };
}
/** A cluster or an outlier group has another title. */
export interface RenamedEvent {
  n: number; t: number; kind: "renamed"; cluster: string | null; group: number | null; title: string | null; before: string | null; who: string | null;
}
export type NoticeState = "open" | "acknowledged" | "dismissed";
/** Somebody acknowledged or dismissed a notice. */
export interface HandledEvent { n: number; t: number; kind: "notice"; notice: number; state: NoticeState; who: string | null; note: string | null }

/** Something about the map as a whole, decided over many arrivals. */
export type Alert = FormingEvent | VanishingEvent | RecoveredEvent | ShiftedEvent | StaleEvent;
/** What happened to no point in particular. */
export type Notice = Alert | UpdatedEvent | RenamedEvent | HandledEvent;
export type PointEvent = PlacedEvent | RemovedEvent;
export type LiveEvent = PointEvent | Notice;
export type Kind = LiveEvent["kind"];

export const isNotice = (event: LiveEvent): event is Notice => !("id" in event);

/** `name` is the id of a cluster; people see its title where it has one. */
export interface Cluster {
  name: string; title?: string | null; rows: number; x: number; y: number; z?: number;
  /** One step of a ramp of colours: it has no name on the map. */
  colour?: readonly [number, number, number];
}
export interface Image { width: number; height: number; channels: number }

export interface MapInfo {
  name: string;
  rows: number;
  columns: number;
  places: 2 | 3;
  perplexity: number;
  radius: string;
  checksum: string;
  /** Number of this version of the map, and of the one it was made from. */
  version: number;
  parent?: number | null;
  /** What the caller may do. */
  role?: "read" | "write" | "admin";
  /** The version that one can go back to. */
  revert_to?: number | null;
  /** Whether another version is being made; servers that make none do not say. */
  updating?: boolean;
  clusters: Cluster[];
  clusters_from: "labels" | "density";
  image: Image | null;
  /** The columns that the map keeps for people. */
  shown?: { name: string; kind: ShownField["kind"] }[];
  /** x0, y0, x1, y1; in space x0, y0, z0, x1, y1, z1. */
  bounds: number[];
  first: number;
  last: number;
  window: number;
  /** This is a recording, and maybe one of snapshots; servers do not say. */
  recording?: { steps: RecordedStep[] | null };
  /** What the operator wants to be told of; servers of before do not say. */
  alerts?: { staleness: number | null; outlier_rate: number | null; new_cluster: boolean };
}

export interface FormingGroup { labels?: LabelCount[]; group: number; groups: number[]; size: number; x: number; y: number; z?: number; since: number; evidence: Evidence }
export interface VanishingCluster { cluster: string; expected: number; seen: number; why: "arrivals" | "left"; evidence?: Evidence }
export interface ShiftedCluster { cluster: string; score: number; evidence: Evidence }
export interface Staleness { staleness: number; score: number; evidence: Evidence }
export interface Series { t: number[]; arrivals: number[]; outliers: number[]; staleness: (number | null)[] }

export interface Health {
  points: number;
  outliers: number;
  groups: number;
  forming: FormingGroup[];
  vanishing: VanishingCluster[];
  shifted: ShiftedCluster[];
  stale: Staleness | null;
  /** More outliers than chance explains. */
  excess: Evidence | null;
  /** One false alarm of each kind may come in so many arrivals. */
  false_alarms: number;
  window: number;
  arrivals: number;
  rate: number;
  outlier_share: number;
  promised: number | null;
  staleness: number;
  series: Series;
}

export interface LivePoints {
  id: string[];
  label: (string | null)[];
  x: number[];
  y: number[];
  z?: number[];
  verdict: Verdict[];
  score: number[];
  group: (number | null)[];
  cluster: (string | null)[];
  t: number[];
  first: number[];
  last: number[];
}

/** Where all live points are after an event. */
export interface Snapshot {
  last: number;
  points: LivePoints;
  groups: { number: number; x: number; y: number; size: number; forming: boolean; title?: string | null }[];
  version?: number;
}

export interface LiveSnapshot extends Snapshot { health: Health }

export interface History { events: LiveEvent[]; first: number; last: number }
export interface Near { id: string; number: number; label: string | null; distance: number }

/** A value that the map keeps for people; an image is base64 of its file. */
export interface ShownField { name: string; kind: "text" | "number" | "image"; value: string | number | null }
export interface NamedValue { name: string; value: number | string | boolean | null }
/** The columns for people of many rows, row by row. */
export interface ShownRows { columns: string[]; rows: (string | number | null)[][] }

export interface RowDetail {
  number: number;
  id: string;
  label: string | null;
  cluster: string | null;
  x: number;
  y: number;
  picture: string | null;
  nearest: Near[];
  shown?: ShownField[];
  values?: NamedValue[] | null;
}

export interface PointDetail {
  /** Its neighbours' label, and how likely it is right; older stores have none. */
  point: Past & { id: string; neighbours?: number; nearest_distance?: number; predicted_label?: string | null; label_share?: number | null };
  history: LiveEvent[];
  picture: string | null;
  nearest: Near[];
  shown?: ShownField[];
  values?: NamedValue[] | null;
}

/** A column that sets rows apart: medians of numbers and dates, or the shares of a category, inside and outside. */
export interface ExplainedColumn {
  column: string; kind: "number" | "date" | "category"; value: string | null; effect: number; error: number; inside: number | null; outside: number | null;
}
/** What rows have in common, against the rest; `lion explain --json` has the same. */
export interface ExplainedCluster {
  id: number; name: string; size: number; share: number; level: number; columns: ExplainedColumn[];
  /** The cluster of the level before that it is a part of. */
  parent?: number | null;
  keyword_shares: { word: string; share: number; share_outside: number }[]; typical: string[]; centre: number[] | null;
  /** Of the clusters of a map: the name that points know it by, and whether anything is known that a name could be made of. */
  cluster?: string | null; named?: boolean;
}
/** The clusters of a map, level by level. */
export interface Explanation { by: "labels" | "density"; levels: number; usual_level: number; clusters: ExplainedCluster[] }

/** Whether somebody has seen to a notice. Its id is the number of the event that told it. */
export interface Handled {
  id: number; kind: string; t: number; group: number | null; cluster: string | null; ended: number | null;
  state: NoticeState; who: string | null; at: number | null; note: string | null;
}

/** How a part of the points differs between two stretches of time: how many, their share, and what chance explains. */
export interface Difference { a: number; b: number; share_a: number; share_b: number; p: number; adjusted: number; change: "gained" | "lost" | null }
/** A box of the map. */
export interface Region extends Difference { min: number[]; max: number[] }
export interface ComparedCluster extends Difference { name: string; title: string | null; x: number; y: number; z?: number }
/** Place, cluster and verdict are of a version of the map, which need not be the current one where a point has left. */
export interface ComparedPoint { id: string; label: string | null; cluster: string | null; verdict: Verdict; t: number; version: number; x: number; y: number; z?: number }
/** All there are, and the latest of them. */
export interface Listed { count: number; points: ComparedPoint[] }
export interface Stretch { from: number; to: number; points: number; events: number }

/** What changed from a stretch of time, a, to a later one, b. */
export interface Comparison {
  version: number;
  a: Stretch;
  b: Stretch;
  /** The test by which a change is beyond chance, and its level. */
  test: string;
  level: number;
  outliers: Difference;
  clusters: ComparedCluster[];
  regions: Region[];
  newcomers: Listed;
  left: Listed;
}

/** How far the making of another version is. */
export interface UpdateStatus {
  state: "none" | "running" | "done" | "failed" | "cancelled";
  kind?: "update" | "revert";
  stage?: string;
  progress?: number;
  from?: number;
  groups?: number[] | null;
  rows?: number;
  seconds?: number;
  version?: number;
  event?: number;
  detail?: string;
}
