// What the server says, as it says it.

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
  nearest: number;
  nearest_id: string;
  nearest_distance: number;
  neighbours: number;
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

export interface FormingEvent {
  n: number; t: number; kind: "forming" | "dissolved"; group: number; groups?: number[]; size: number; x: number; y: number; z?: number; ids: string[];
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

/** Something about the map as a whole, decided over many arrivals. */
export type Notice = FormingEvent | VanishingEvent | RecoveredEvent | ShiftedEvent | StaleEvent;
export type PointEvent = PlacedEvent | RemovedEvent;
export type LiveEvent = PointEvent | Notice;
export type Kind = LiveEvent["kind"];

export const isNotice = (event: LiveEvent): event is Notice => !("id" in event);

export interface Cluster { name: string; rows: number; x: number; y: number; z?: number }
export interface Image { width: number; height: number; channels: number }

export interface MapInfo {
  name: string;
  rows: number;
  columns: number;
  places: 2 | 3;
  perplexity: number;
  radius: string;
  checksum: string;
  clusters: Cluster[];
  clusters_from: "labels" | "density";
  image: Image | null;
  /** x0, y0, x1, y1; in space x0, y0, z0, x1, y1, z1. */
  bounds: number[];
  first: number;
  last: number;
  window: number;
  /** What the operator wants to be told of; servers of before do not say. */
  alerts?: { staleness: number | null; outlier_rate: number | null; new_cluster: boolean };
}

export interface FormingGroup { group: number; groups: number[]; size: number; x: number; y: number; z?: number; since: number; evidence: Evidence }
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

export interface LiveSnapshot {
  last: number;
  points: LivePoints;
  groups: { number: number; x: number; y: number; size: number; forming: boolean }[];
  health: Health;
}

export interface History { events: LiveEvent[]; first: number; last: number }
export interface Near { id: string; number: number; label: string | null; distance: number }

export interface RowDetail {
  number: number;
  id: string;
  label: string | null;
  cluster: string | null;
  x: number;
  y: number;
  picture: string | null;
  nearest: Near[];
}

export interface PointDetail {
  point: Past & { id: string; neighbours?: number; nearest_distance?: number };
  history: LiveEvent[];
  picture: string | null;
  nearest: Near[];
}
