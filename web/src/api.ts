// What a server answers. The only file that knows URLs.

import { parseColumns, type Columns } from "./columns";
import type { Times } from "./stretches";
import type { Comparison, ExplainedCluster, Explanation, Handled, Health, History, LiveEvent, LiveSnapshot, MapInfo, NoticeState, PointDetail, RowDetail, ShownRows, Snapshot, UpdateStatus } from "./types";

/** The server answered, but not with what was asked for. */
export class Refusal extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

const PAGE = 10_000;

async function ask(path: string, method = "GET", body?: unknown): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json, application/octet-stream" };
  if (body !== undefined) headers["content-type"] = "application/json";
  const answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store" });
  if (answer.ok) return answer;
  let said = `the server answered ${answer.status}`;
  try {
    const body = (await answer.json()) as { error?: string; detail?: string };
    said = body.detail ?? body.error ?? said;
  } catch {
    // No JSON: the status has to do.
  }
  // Browsers say where a request comes from when it changes something, and the server compares that with its own name.
  if (answer.status === 403 && method !== "GET") said += "; a proxy before the server must forward the Host by which it was called";
  throw new Refusal(answer.status, said);
}

const json = async <T>(path: string, method?: string, body?: unknown): Promise<T> => (await ask(path, method, body)).json() as Promise<T>;
const of = (version?: number): string => (version === undefined ? "" : `?version=${version}`);

const overHttp = {
  /** What is said of the map; of a version before, if one is named. */
  map: (version?: number) => json<MapInfo>(`api/map${of(version)}`),
  columns: async (version?: number): Promise<Columns> => parseColumns(await (await ask(`api/map/columns${of(version)}`)).arrayBuffer()),
  /** The live points just before the event that switched to another version. */
  beforeSwitch: (event: number) => json<Snapshot>(`api/map/switches/${event}`),
  update: () => json<UpdateStatus>("api/map/update"),
  startUpdate: (groups: number[] | null, who: string | null) => json<UpdateStatus>("api/map/update", "POST", { ...(groups && { groups }), ...(who && { who }) }),
  cancelUpdate: () => json<UpdateStatus>("api/map/update", "DELETE"),
  revert: (who: string | null) => json<UpdateStatus>("api/map/revert", "POST", who ? { who } : {}),
  /** Gives a cluster or `group-N` a title; null takes it away. */
  rename: (id: string, name: string | null, who: string | null) => json<unknown>(`api/clusters/${encodeURIComponent(id)}`, "PUT", { name, ...(who && { who }) }),
  notices: () => json<{ notices: Handled[] }>("api/notices"),
  handle: (id: number, state: NoticeState, who: string | null) => json<Handled>(`api/notices/${id}`, "POST", { state, ...(who && { who }) }),
  live: () => json<LiveSnapshot>("api/live"),
  row: (number: number) => json<RowDetail>(`api/map/rows/${number}`),
  /** The columns for people of at most a thousand rows. */
  shown: (rows: readonly number[]) => json<ShownRows>(`api/map/shown?rows=${rows.join(",")}`),
  /** What the clusters of a version of the map are. */
  explained: (version: number) => json<Explanation>(`api/explain${of(version)}`),
  /** What rows of a version of the map and live points have in common, against the rest. */
  explain: (rows: readonly number[], ids: readonly string[], version: number) => json<ExplainedCluster>(`api/explain${of(version)}`, "POST", { rows, ids }),
  point: (id: string) => json<PointDetail>(`api/points/${encodeURIComponent(id)}`),
  /** What changed from one stretch of time to a later one. */
  compare: ([a0, a1, b0, b1]: Times) => json<Comparison>(`api/compare?a=${a0},${a1}&b=${b0},${b1}`),
  /** The events just before a number, oldest first. */
  before: (number: number, limit = PAGE) => json<History>(`api/history?before=${number}&limit=${Math.min(limit, PAGE)}`),

  /** Listens to everything after an event. */
  listen(after: number, on: { open(): void; event(event: LiveEvent): void; health(health: Health): void; lost(): void }): () => void {
    const source = new EventSource(`api/events?after=${after}`);
    source.onopen = on.open;
    source.onmessage = (message) => on.event(JSON.parse(message.data as string) as LiveEvent);
    source.addEventListener("health", (message) => on.health(JSON.parse((message as MessageEvent<string>).data) as Health));
    source.onerror = on.lost;
    return () => source.close();
  },
};

/** What can be asked: of the server, or of a recording. */
export type Api = typeof overHttp;
export let api: Api = overHttp;

/** From now on somebody else answers. */
export function answerFrom(other: Api): void {
  api = other;
}

/** A token given once in the address became a cookie; it need not stay in the address for all to see. */
export function hideToken(): void {
  const address = new URL(location.href);
  if (!address.searchParams.has("token")) return;
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
}
