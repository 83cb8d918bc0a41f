// The only file that knows URLs.

import { parseColumns, type Columns } from "./columns";
import type { Health, History, LiveEvent, LiveSnapshot, MapInfo, PointDetail, RowDetail } from "./types";

/** The server answered, but not with what was asked for. */
export class Refusal extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

const PAGE = 10_000;

async function ask(path: string): Promise<Response> {
  const answer = await fetch(path, { headers: { accept: "application/json, application/octet-stream" }, cache: "no-store" });
  if (answer.ok) return answer;
  let said = `the server answered ${answer.status}`;
  try {
    const body = (await answer.json()) as { error?: string; detail?: string };
    said = body.detail ?? body.error ?? said;
  } catch {
    // No JSON: the status has to do.
  }
  throw new Refusal(answer.status, said);
}

const json = async <T>(path: string): Promise<T> => (await ask(path)).json() as Promise<T>;

export const api = {
  map: () => json<MapInfo>("api/map"),
  columns: async (): Promise<Columns> => parseColumns(await (await ask("api/map/columns")).arrayBuffer()),
  live: () => json<LiveSnapshot>("api/live"),
  row: (number: number) => json<RowDetail>(`api/map/rows/${number}`),
  point: (id: string) => json<PointDetail>(`api/points/${encodeURIComponent(id)}`),
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

/** A token given once in the address became a cookie; it need not stay in the address for all to see. */
export function hideToken(): void {
  const address = new URL(location.href);
  if (!address.searchParams.has("token")) return;
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
}
