import assert from "node:assert/strict";
import { test } from "node:test";
import { Moments } from "../../src/moments";
import { answersOf } from "../../src/recording";
import { State } from "../../src/state";
import { isNotice, type LiveEvent, type Past } from "../../src/types";
import { stream } from "./stream";

/** First bytes first. */
function planes(values: ArrayLike<number>, make: { new (values: ArrayLike<number>): { buffer: ArrayBufferLike }; BYTES_PER_ELEMENT: number }): Uint8Array {
  const [bytes, width] = [new Uint8Array(new make(values).buffer), make.BYTES_PER_ELEMENT];
  return bytes.map((_, at) => bytes[(at % values.length) * width + Math.floor(at / values.length)]);
}

function pack(header: object, parts: [string, Uint8Array][]): ArrayBuffer {
  let offset = 0;
  const columns = parts.map(([name, { length }]) => {
    const entry = { name, type: "", offset, length };
    offset += Math.ceil(length / 8) * 8;
    return entry;
  });
  let text = JSON.stringify({ ...header, columns });
  while ((text.length + 4) % 8 !== 0) text += " ";
  const whole = new Uint8Array(4 + text.length + offset);
  new DataView(whole.buffer).setUint32(0, text.length, true);
  whole.set(new TextEncoder().encode(text), 4);
  columns.forEach((entry, k) => whole.set(parts[k][1], 4 + text.length + entry.offset));
  return whole.buffer;
}

const VERDICTS = ["exact", "interpolated", "beside-outlier", "outlier"];

/** A history as the program writes it, cut into stretches. Each begins with points of its own. */
function record(stretches: { start: (Past & { id: string })[]; events: LiveEvent[] }[]): ArrayBuffer {
  const texts: string[] = [];
  const kinds: string[] = [];
  const index = (list: string[], text: string) => (list.includes(text) ? list.indexOf(text) : list.push(text) - 1);
  const code = (text: string | null) => (text === null ? 0 : index(texts, text) + 1);
  const c = { kind: [], t: [], start: [], id: [], x: [], y: [], verdict: [], score: [], group: [], cluster: [], label: [], nearest: [] } as Record<string, number[]>;
  const notices: LiveEvent[] = [];
  const place = (p: Past) => {
    c.x.push(p.x);
    c.y.push(p.y);
    c.verdict.push(VERDICTS.indexOf(p.verdict));
    c.score.push(p.score);
    c.group.push(p.group === null ? 0 : p.group + 1);
    c.cluster.push(code(p.cluster));
    c.label.push(code(p.label));
  };
  for (const { start, events } of stretches) {
    for (const point of start) {
      c.start.push(point.t);
      c.id.push(code(point.id));
      place(point);
    }
    for (const event of events) {
      c.t.push(event.t);
      c.kind.push(isNotice(event) ? 255 : index(kinds, event.kind));
      if (isNotice(event)) notices.push(event);
      else c.id.push(code(event.id));
      if (!isNotice(event) && event.kind !== "removed") place(event);
      if ("verdict" in event && event.verdict === "outlier") c.nearest.push(event.nearest);
    }
  }
  const all = stretches.flatMap(({ events }) => events);
  const header = {
    first: all[0].n, last: all[all.length - 1].n, window: 60, promised: 0.01, groups: [{ number: 3, title: "odd ones" }], steps: null, kinds, verdicts: VERDICTS, notices,
    versions: stretches.map((_, k) => ({ version: k + 1, name: "made", clusters: [] })),
    stretches: stretches.map(({ start, events }, k) => ({ version: k + 1, points: start.length, events: events.length })),
  };
  const u32 = (name: string): [string, Uint8Array] => [name, planes(c[name], Uint32Array)];
  return pack(header, [
    ["texts", new TextEncoder().encode(JSON.stringify(texts))], ["kind", Uint8Array.from(c.kind)], ["verdict", Uint8Array.from(c.verdict)],
    ["t", planes(c.t, Float64Array)], ["start_t", planes(c.start, Float64Array)], ["x", planes(c.x, Float32Array)], ["y", planes(c.y, Float32Array)], ["score", planes(c.score, Float32Array)],
    u32("id"), u32("group"), u32("cluster"), u32("label"), u32("nearest"),
  ]);
}

/** As 32 bits have it, and without what a recording leaves out. */
function rounded<T extends object>(value: T): T {
  return JSON.parse(JSON.stringify(value, (key, v: unknown) => {
    if (["nearest", "nearest_id", "nearest_distance", "neighbours"].includes(key)) return undefined;
    if (key === "from" && v) return { ...v, id: undefined };
    return ["x", "y", "score"].includes(key) && typeof v === "number" ? Math.fround(v) : v;
  })) as T;
}
const sorted = (state: State) => rounded([...state.points.values()].sort((a, b) => (a.id < b.id ? -1 : 1)));

test("a recording has the events that were recorded, with what was before each", async () => {
  const events = stream(600, 7);
  const api = answersOf(record([{ start: [], events }]));
  const { events: back, first, last } = await api.before(601);
  assert.deepEqual([first, last, back.length], [1, 600, 600]);
  // Notices are as they were told; points have the order of fields that they come in.
  for (const [k, event] of events.entries()) assert.deepEqual(rounded(back[k]), rounded(event), `event ${k + 1}`);
  assert.deepEqual((await api.before(11, 4)).events.map(({ n }) => n), [7, 8, 9, 10]);
  const outlier = events.findIndex((event) => "verdict" in event && event.verdict === "outlier");
  assert.equal((back[outlier] as { nearest: number }).nearest, 0);
});

test("its end is what the events lead to, and its titles are known", async () => {
  const events = stream(400, 3);
  const api = answersOf(record([{ start: [], events }]));
  const [played, loaded] = [new State(), new State()];
  for (const event of events) played.apply(event);
  const live = await api.live();
  loaded.load(live);
  assert.deepEqual(sorted(loaded), sorted(played));
  loaded.retitle(await api.map(), live);
  assert.equal(loaded.titles.get("group-3"), "odd ones");
});

test("each stretch is on its own version, and begins with points of its own", async () => {
  const events = stream(300, 5);
  const before = new State();
  for (const event of events.slice(0, 200)) before.apply(event);
  // After the switch all points are elsewhere.
  const start = [...before.points.values()].map((point) => ({ ...point, x: point.x + 5 }));
  const switched = { n: 201, t: 201, kind: "map-updated", version: 2, from: 1 } as unknown as LiveEvent;
  const known = new Map(start.map((point) => [point.id, point]));
  const later = events.slice(201).filter((event) => !isNotice(event)).map((event, k) => {
    if (isNotice(event)) throw new Error("they are left out");
    const from = known.get(event.id) ?? null;
    if (event.kind === "removed") known.delete(event.id);
    else known.set(event.id, { ...event, id: event.id });
    return { ...event, n: 202 + k, from } as LiveEvent;
  }).filter((event) => event.kind !== "removed" || (event as { from: unknown }).from !== null);
  later.forEach((event, k) => { event.n = 202 + k; });
  const api = answersOf(record([{ start: [], events: events.slice(0, 200) }, { start, events: [switched, ...later] }]));
  assert.equal((await api.map()).version, 2);
  assert.equal((await api.map(1)).version, 1);
  assert.deepEqual((await api.map()).recording, { steps: null });
  const snapshot = new State();
  const { last, ...rest } = await api.beforeSwitch(201);
  assert.equal(last, 200);
  snapshot.load({ last, ...rest });
  assert.deepEqual(sorted(snapshot), sorted(before));
  await assert.rejects(api.beforeSwitch(50));
  await assert.rejects(api.point("p1"));
  const first = (await api.before(1000)).events.find((event) => event.n > 201 && !isNotice(event) && event.from !== null) as { from: Past };
  assert.ok(first.from.x >= 5, "what was before is on the map of its time");
});

test("a history may begin with a switch", async () => {
  const [was] = stream(40, 9).filter((event) => event.kind === "appeared");
  const switched = { n: 7, t: 7, kind: "map-updated", version: 2, from: 1 } as unknown as LiveEvent;
  const point = was as Past & { id: string };
  const api = answersOf(record([{ start: [point], events: [] }, { start: [{ ...point, x: 9 }], events: [switched] }]));
  const [before, now] = [new State(), new State()];
  before.load(await api.beforeSwitch(7));
  now.load(await api.live());
  assert.deepEqual([before.last, Math.fround(point.x)], [6, before.points.get(point.id)?.x]);
  assert.equal(now.points.get(point.id)?.x, 9);
});

test("a recording that is cut short says so", () => {
  const whole = record([{ start: [], events: stream(50, 2) }]);
  assert.throws(() => answersOf(whole.slice(0, whole.byteLength - 400)), /cut short/);
  assert.throws(() => answersOf(new ArrayBuffer(0)), /empty/);
});

test("a slider stops after each event, or after each step", () => {
  const events = new Moments(null);
  assert.deepEqual([events.ends(4, 90), events.position(17), events.event(17, 4), events.place(17), events.name(17)], [[4, 90], 17, 17, 17, null]);
  const steps = new Moments([{ name: "a", last: 10 }, { name: "b", last: 15 }, { name: "c", last: 40 }]);
  assert.deepEqual(steps.ends(0, 40), [0, 3]);
  assert.deepEqual([0, 9, 10, 14, 15, 40].map((n) => steps.position(n)), [0, 0, 1, 1, 2, 3]);
  assert.deepEqual([0, 1, 2, 3, 4].map((at) => steps.event(at, 0)), [0, 10, 15, 40, 40]);
  assert.deepEqual([1, 10, 11, 40].map((n) => steps.place(n)), [1, 1, 2, 3]);
  assert.equal(steps.name(2), "b");
});
