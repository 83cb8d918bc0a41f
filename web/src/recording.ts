// A recording: the history of a map within the page, and the answers that a server would give of it.

import { Refusal, type Api } from "./api";
import { parseColumns, unpack, type Packed } from "./columns";
import type { RecordedStep } from "./moments";
import type { Point } from "./state";
import type { Health, LiveEvent, MapInfo, Notice, PlacedKind, Snapshot, Verdict } from "./types";

/** The kind of an event that is about no point. */
const NOTICE = 255;

interface Header {
  first: number;
  last: number;
  window: number;
  promised: number | null;
  versions: MapInfo[];
  /** Titles of outlier groups. */
  groups: { number: number; title: string }[];
  stretches: { version: number; points: number; events: number }[];
  steps: RecordedStep[] | null;
  kinds: string[];
  verdicts: Verdict[];
  notices: Notice[];
}

/** What happened on one version of the map: the events, and the points that were there at its end. */
interface Stretch { version: number; first: number; end: Point[] }

/** The numbers of a column, whose first bytes lie before all second ones, and so on. */
function numbers<T>({ find }: Packed<Header>, name: string, width: number, make: new (buffer: ArrayBuffer) => T): T {
  const bytes = find(name);
  if (!bytes) throw new Error(`the recording has no column ${name}`);
  const count = bytes.length / width;
  const joined = new Uint8Array(bytes.length);
  for (let byte = 0; byte < width; byte++) for (let k = 0; k < count; k++) joined[k * width + byte] = bytes[byte * count + k];
  return new make(joined.buffer);
}

/** Gives the values of a column one after the other. */
function reader<T>(column: ArrayLike<T>): () => T {
  let at = 0;
  return () => {
    if (at >= column.length) throw new Error("the recording is cut short");
    return column[at++];
  };
}

/** All columns, read side by side from front to back. */
function columnsOf(packed: Packed<Header>) {
  const { header, find } = packed;
  const f32 = (name: string) => reader(numbers(packed, name, 4, Float32Array));
  const u32 = (name: string) => reader(numbers(packed, name, 4, Uint32Array));
  const f64 = (name: string) => reader(numbers(packed, name, 8, Float64Array));
  const u8 = (name: string) => reader(find(name) ?? []);
  const texts = JSON.parse(new TextDecoder().decode(find("texts"))) as string[];
  const named = (name: string) => {
    const next = u32(name);
    return () => {
      const code = next();
      return code === 0 ? null : texts[code - 1];
    };
  };
  const [x, y, z] = [f32("x"), f32("y"), find("z") ? f32("z") : null];
  const [verdict, score, group, cluster, label] = [u8("verdict"), f32("score"), u32("group"), named("cluster"), named("label")];
  return {
    kind: u8("kind"), t: f64("t"), startT: f64("start_t"), id: named("id") as () => string, nearest: u32("nearest"), notice: reader(header.notices),
    place: (id: string, t: number): Point => {
      const at = { x: x(), y: y(), ...(z && { z: z() }) };
      const number = group();
      return { id, t, ...at, verdict: header.verdicts[verdict()], score: score(), group: number === 0 ? null : number - 1, cluster: cluster(), label: label() };
    },
  };
}

/** Goes through the whole history once. What was before an event follows from what is there when it comes. */
function fold(packed: Packed<Header>): { events: LiveEvent[]; stretches: Stretch[] } {
  const { header } = packed;
  const columns = columnsOf(packed);
  const events: LiveEvent[] = [];
  const stretches = header.stretches.map(({ version, points: many, events: length }) => {
    const first = header.first + events.length;
    const points = new Map<string, Point>();
    for (let k = 0; k < many; k++) {
      const id = columns.id();
      points.set(id, columns.place(id, columns.startT()));
    }
    for (let k = 0; k < length; k++) {
      const [n, t, kind] = [header.first + events.length, columns.t(), columns.kind()];
      if (kind === NOTICE) {
        events.push(columns.notice());
        continue;
      }
      const id = columns.id();
      const from = points.get(id) ?? null;
      if (header.kinds[kind] === "removed") {
        if (!from) throw new Error(`the recording removes a point that is not there by event ${n}`);
        events.push({ n, t, kind: "removed", id, from });
        points.delete(id);
        continue;
      }
      const point = columns.place(id, t);
      points.set(id, point);
      const nearest = point.verdict === "outlier" ? columns.nearest() : -1;
      events.push({ ...point, n, kind: header.kinds[kind] as PlacedKind, nearest, from });
    }
    return { version, first, end: [...points.values()] };
  });
  return { events, stretches };
}

function snapshot(points: readonly Point[], last: number, { groups }: Header): Snapshot {
  const column = <K extends keyof Point>(name: K): Point[K][] => points.map((point) => point[name]);
  const inSpace = points.length > 0 && points[0].z !== undefined;
  return {
    last,
    points: {
      id: column("id"), label: column("label"), x: column("x"), y: column("y"), ...(inSpace && { z: column("z") as number[] }), verdict: column("verdict"),
      score: column("score"), group: column("group"), cluster: column("cluster"), t: column("t"), first: [], last: [],
    },
    groups: groups.map(({ number, title }) => ({ number, title, x: 0, y: 0, size: 0, forming: false })),
  };
}

/** What a recording does not know of is left empty: nobody looks at it but at the present. */
const health = ({ window, promised }: Header): Health => ({
  points: 0, outliers: 0, groups: 0, forming: [], vanishing: [], shifted: [], stale: null, excess: null, false_alarms: 0, window, arrivals: 0, rate: 0, outlier_share: 0, promised,
  staleness: 0, series: { t: [], arrivals: [], outliers: [], staleness: [] },
});

/** The answers of a recording that is unpacked. */
export function answersOf(bytes: ArrayBuffer): Api {
  const packed = unpack<Header>(bytes, "the recording");
  const { header, find } = packed;
  const { events, stretches } = fold(packed);
  const latest = stretches[stretches.length - 1].version;
  const none = (): Promise<never> => Promise.reject(new Refusal(404, "a recording does not know that"));
  return {
    map: async (version = latest) => {
      const info = header.versions.find((known) => known.version === version);
      if (!info) return none();
      const { first, last, window, steps } = header;
      return { ...info, first, last, window, recording: { steps } };
    },
    columns: async (version = latest) => {
      const rows = find(`map ${version}`);
      return rows ? parseColumns(rows.slice().buffer) : none();
    },
    live: async () => ({ ...snapshot(stretches[stretches.length - 1].end, header.last, header), version: latest, health: health(header) }),
    beforeSwitch: async (event) => {
      const at = stretches.findLastIndex(({ first }) => first === event);
      return at > 0 ? snapshot(stretches[at - 1].end, event - 1, header) : none();
    },
    before: async (number, limit = Infinity) => {
      const end = Math.max(0, number - header.first);
      return { events: events.slice(Math.max(0, end - limit), end), first: header.first, last: header.last };
    },
    listen: () => () => {},
    row: none, shown: none, explain: none, explained: none, point: none, notices: none, update: none, startUpdate: none, cancelUpdate: none, revert: none, rename: none, handle: none, compare: none,
  };
}

/** Unpacks the recording that an element of the page holds: gzip as Base64. */
export async function openRecording(element: HTMLElement): Promise<Api> {
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old to unpack the recording");
  const text = atob((element.textContent ?? "").trim());
  // Read once; as text it only takes room.
  element.remove();
  const packed = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) packed[k] = text.charCodeAt(k);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return answersOf(await new Response(stream).arrayBuffer());
}
