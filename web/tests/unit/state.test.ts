import assert from "node:assert/strict";
import { test } from "node:test";
import { Log } from "../../src/log";
import { State, type Point } from "../../src/state";
import { stream } from "./stream";
import type { Health, LiveEvent, LiveSnapshot, Notice, Past } from "../../src/types";

const health: Health = {
  points: 0, outliers: 0, groups: 0, forming: [], vanishing: [], shifted: [], stale: null, excess: null, false_alarms: 300000, window: 300, arrivals: 0, rate: 0, outlier_share: 0,
  promised: 0.01, staleness: 0, series: { t: [], arrivals: [], outliers: [], staleness: [] },
};
const nothing: LiveSnapshot = {
  last: 0, groups: [], health,
  points: { id: [], label: [], x: [], y: [], verdict: [], score: [], group: [], cluster: [], t: [], first: [], last: [] },
};

const past = ({ t, x, y, verdict, score, group, cluster, label }: Past): Past => ({ t, x, y, verdict, score, group, cluster, label });

/** All that can be seen of a state, in an order that does not depend on the way it came about. */
function seen(state: State): unknown {
  const sorted = <T>(list: Iterable<T>): T[] => [...list].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return {
    last: state.last, outliers: state.outliers, stale: state.stale,
    points: sorted([...state.points.values()].map((point: Point) => ({ id: point.id, ...past(point) }))),
    groups: sorted([...state.groups].map(([number, members]) => [number, sorted(members)])),
    forming: sorted(state.forming()), titles: sorted(state.titles), shifted: sorted(state.shifted),
    vanishing: sorted([...state.vanishing.values()].map(({ cluster, expected, seen: got }) => [cluster, expected, got])),
  };
}

test("undoing every event of a stream brings back every state on the way", () => {
  for (const seed of [1, 2, 3]) {
    const log = new Log();
    const state = new State();
    state.load(nothing);
    log.restart(0);
    const states = [seen(state)];
    for (const event of stream(400, seed)) {
      assert.ok(log.append(event));
      state.apply(event);
      states.push(seen(state));
    }
    for (let n = 400; n >= 1; n--) {
      const event = log.at(n) as LiveEvent;
      state.undo(event, log.before(event));
      assert.deepEqual(seen(state), states[n - 1], `state after event ${n - 1}, seed ${seed}`);
    }
    for (let n = 1; n <= 400; n++) state.apply(log.at(n) as LiveEvent);
    assert.deepEqual(seen(state), states[400]);
  }
});

test("a snapshot and the events after it give the same points as all events", () => {
  const events = stream(300, 9);
  const whole = new State();
  whole.load(nothing);
  for (const event of events.slice(0, 200)) whole.apply(event);
  const list = [...whole.points.values()];
  const column = <K extends keyof Point>(key: K): Point[K][] => list.map((point) => point[key]);
  const later = new State();
  later.load({
    ...nothing, last: 200,
    points: {
      id: column("id"), label: column("label"), x: column("x"), y: column("y"), verdict: column("verdict"), score: column("score"),
      group: column("group"), cluster: column("cluster"), t: column("t"), first: [], last: [],
    },
  });
  for (const event of events.slice(200)) {
    whole.apply(event);
    later.apply(event);
  }
  const points = (state: State) => (seen(state) as { points: unknown; groups: unknown });
  assert.deepEqual(points(later).points, points(whole).points);
  assert.deepEqual(points(later).groups, points(whole).groups);
  assert.equal(later.outliers, whole.outliers);
});

test("apply and undo say what they did to which point", () => {
  const state = new State();
  state.load(nothing);
  const [event] = stream(1, 4) as [Extract<LiveEvent, { kind: "appeared" }>];
  assert.deepEqual(state.apply(event), { id: event.id, was: null, now: state.points.get(event.id) });
  const step = state.undo(event);
  assert.equal(step?.now, null);
  assert.equal(step?.was?.x, event.x);
  assert.equal(state.points.size, 0);
});

test("health ends what ended without an event", () => {
  const evidence = { seen: 1, of: 2, expected: 0.5, e_value: 9, since: 0 };
  const state = new State();
  state.load(nothing);
  const [place] = stream(1, 4) as [Extract<LiveEvent, { kind: "appeared" }>];
  state.apply({ ...place, n: 1, verdict: "outlier", group: 7, cluster: null });
  state.apply({ n: 2, t: 2, kind: "forming", group: 7, size: 1, x: 0, y: 0, ids: [] });
  state.apply({ n: 3, t: 3, kind: "vanishing", cluster: "a", expected: 10, seen: 0, why: "left" });
  assert.equal(state.forming().length, 1);
  state.adopt(health);
  assert.equal(state.forming().length, 0);
  assert.equal(state.vanishing.size, 0);
  state.adopt({ ...health, forming: [{ group: 7, groups: [7], size: 1, x: 3, y: 4, since: 0, evidence }] });
  assert.deepEqual(state.forming(), [{ group: 7, groups: [7], size: 1, x: 3, y: 4, evidence }]);
});

test("the log takes only what joins on", () => {
  const events = stream(50, 5);
  const log = new Log();
  log.restart(30);
  assert.equal(log.append(events[31]), false, "event 32 after 30");
  assert.equal(log.append(events[30]), true);
  assert.equal(log.prepend(events.slice(0, 20)), 0, "a gap before 31");
  assert.equal(log.prepend(events.slice(10, 35)), 20, "what is known already is left out");
  assert.equal(log.first, 11);
  assert.equal(log.last, 31);
  assert.equal(log.at(11)?.n, 11);
  assert.equal(log.at(10), undefined);
  assert.deepEqual(log.upTo(13, 10).map(({ n }) => n), [11, 12, 13]);
});

test("the log knows the switches between versions", () => {
  const change = (n: number): LiveEvent => ({
    n, t: n, kind: "map-updated", version: n, from: n - 1, reverted: false, who: null, rows: 1, added: 0, removed: 0, points: 0, taken_in: 0,
    clusters: { born: [], gone: [], moved: [] },
  });
  const plain = stream(20, 3);
  const events = plain.map((event) => (event.n === 5 || event.n === 15 ? change(event.n) : event));
  const log = new Log();
  log.restart(10);
  for (const event of events.slice(10)) log.append(event);
  assert.equal(log.nextSwitch(2)?.n, 15, "the one before is not in memory yet");
  log.prepend(events.slice(0, 10));
  assert.deepEqual([0, 4, 5, 14, 15].map((n) => log.nextSwitch(n)?.n), [5, 5, 15, 15, undefined]);
});

test("of the clusters that form, those go on that an update names", () => {
  const evidence = { seen: 1, of: 2, expected: 0.5, e_value: 9, since: 0 };
  const state = new State();
  state.load({ ...nothing, points: { ...nothing.points, id: ["p", "q"], label: [null, null], x: [0, 1], y: [0, 1], verdict: ["outlier", "outlier"], score: [0, 0], group: [1, 2], cluster: [null, null], t: [1, 1] } });
  const forming = (n: number, group: number): Notice => ({ n, t: n, kind: "forming", group, groups: [group], size: 9, x: 0, y: 0, ids: [], evidence });
  const updated: Notice = {
    n: 3, t: 3, kind: "map-updated", version: 2, from: 1, reverted: false, who: null, rows: 1, added: 1, removed: 0, points: 0, taken_in: 1, still_forming: [2], clusters: { born: [], gone: [], moved: [] },
  };
  state.retell([forming(1, 1), forming(2, 2)]);
  assert.deepEqual(state.forming().map(({ group }) => group), [1, 2]);
  state.retell([forming(1, 1), forming(2, 2), updated]);
  assert.deepEqual(state.forming().map(({ group }) => group), [2]);
});

test("alarms about the map as it was end when it is updated", () => {
  const evidence = { seen: 1, of: 2, expected: 0.5, e_value: 9, since: 0 };
  const state = new State();
  state.load(nothing);
  state.retell([
    { n: 1, t: 1, kind: "stale", staleness: 1, arrivals: 60 },
    { n: 2, t: 2, kind: "cluster-stale", cluster: "a", score: 0.1, evidence },
    { n: 3, t: 3, kind: "map-updated", version: 2, from: 1, reverted: false, who: null, rows: 1, added: 1, removed: 0, points: 0, taken_in: 1, clusters: { born: [], gone: [], moved: [] } },
    { n: 4, t: 4, kind: "vanishing", cluster: "b", expected: 12, seen: 1, why: "arrivals" },
  ]);
  assert.equal(state.stale, null);
  assert.equal(state.shifted.size, 0);
  assert.deepEqual([...state.vanishing.keys()], ["b"]);
});
