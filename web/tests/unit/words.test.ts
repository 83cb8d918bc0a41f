import assert from "node:assert/strict";
import { test } from "node:test";
import { csv } from "../../src/csv";
import { CLASSES, colourClasses, OTHER } from "../../src/palette";
import { paint } from "../../src/picture";
import { State } from "../../src/state";
import type { Health, LiveEvent, PlacedEvent } from "../../src/types";
import { Kin } from "../../src/kin";
import { alarms, called, crowd, large, legible, moment, percent, rate, sentence, short, status } from "../../src/words";

const context = { like: () => "7", size: () => undefined, little: Infinity, title: (name: string) => name, event: (n: number) => (n === 7 ? ({ n: 7, t: 1, kind: "vanishing", cluster: "3", expected: 9, seen: 0, why: "left" } as LiveEvent) : undefined) };
const like = () => "7";
const place = (change: Partial<PlacedEvent>): PlacedEvent => ({
  n: 1, t: 1, kind: "appeared", id: "a", label: null, x: 0, y: 0, verdict: "interpolated", score: 0.5, group: null, cluster: "3", nearest: 0,
  nearest_id: "0", nearest_distance: 1, neighbours: 3, from: null, ...change,
});
const before = { t: 0, x: 3, y: 4, verdict: "interpolated", score: 0.5, group: null, cluster: "3", label: null } as const;

test("each event has its sentence", () => {
  const cases: [LiveEvent, string][] = [
    [place({}), "landed in cluster 3"],
    [place({ cluster: "cats" }), "landed in cats"],
    [place({ cluster: null }), "landed outside every cluster"],
    [place({ verdict: "outlier", cluster: null, group: 1 }), "landed as an outlier"],
    [place({ kind: "stayed", from: before }), "stayed in its place"],
    [place({ kind: "moved", from: before }), "moved a little (5) within cluster 3"],
    [place({ kind: "changed-cluster", cluster: "8", from: before }), "changed from cluster 3 to cluster 8"],
    [place({ kind: "became-outlier", verdict: "outlier", cluster: null, from: before }), "became an outlier, was in cluster 3"],
    [place({ kind: "joined-group", verdict: "outlier", group: 4, cluster: null }), "joined other outliers"],
    [place({ kind: "returned", from: { ...before, verdict: "outlier" } }), "returned to cluster 3"],
    [{ n: 1, t: 1, kind: "removed", id: "a", from: before }, "was removed"],
    [{ n: 1, t: 1, kind: "forming", group: 1, size: 5, x: 0, y: 0, ids: [] }, "A new cluster is forming: 5 outliers, most like 7"],
    [{ n: 1, t: 1, kind: "vanishing", cluster: "3", expected: 14.2, seen: 1, why: "arrivals" }, "Cluster 3 is vanishing: 1 arrival where 14 were expected"],
    [{ n: 1, t: 1, kind: "vanishing", cluster: "3", expected: 12, seen: 2, why: "left" }, "Cluster 3 is vanishing: 2 of 12 points left in it"],
    [{ n: 1, t: 1, kind: "recovered", cluster: "3" }, "Cluster 3 receives points again"],
    [{ n: 1, t: 1, kind: "forming", group: 1, groups: [1, 2], size: 7, x: 0, y: 0, ids: [], evidence: { seen: 7, of: 120, expected: 0.05, e_value: 4.1e6, since: 0 } },
      "A new cluster is forming: 7 outliers, most like 7, 7 of the last 120 rows where 0.05 were expected. A false alarm this strong comes once in 4.1 million rows"],
    [{ n: 1, t: 1, kind: "dissolved", group: 1, groups: [1], size: 7, x: 0, y: 0, ids: [], evidence: { seen: 0, of: 90, expected: 9.2, e_value: 1e4, since: 0 } },
      "A new cluster grows no more: none of the last 90 rows came to its 7 outliers, 9.2 were expected"],
    [{ n: 1, t: 1, kind: "dissolved", group: 1, groups: [], size: 0, x: 0, y: 0, ids: [] }, "A new cluster is gone: none of its outliers are left"],
    [{ n: 1, t: 1, kind: "stale", staleness: 0.1, arrivals: 300, score: 0.01, evidence: { seen: 27, of: 300, expected: 3, e_value: 4e6, since: 0 } },
      "The map is stale: 27 of the last 300 rows are among the 1 % strangest of its own, 3 were expected. A false alarm this strong comes once in 4 million rows"],
    [{ n: 1, t: 1, kind: "cluster-stale", cluster: "4", score: 0.1, evidence: { seen: 41, of: 100, expected: 10, e_value: 5e5, since: 0 } },
      "Cluster 4 is stale: 41 of the last 100 rows are among the 10 % strangest of its own, 10 were expected. A false alarm this strong comes once in 500,000 rows"],
    [{ n: 1, t: 1, kind: "cluster-fresh", cluster: "4", score: 0.1, evidence: { seen: 41, of: 100, expected: 10, e_value: 5e5, since: 0 } }, "Arrivals in cluster 4 are like its rows again"],
    [{ n: 1, t: 1, kind: "fresh", staleness: 0.1, arrivals: 300 }, "The map fits its arrivals again"],
  ];
  for (const [event, text] of cases) assert.equal(sentence(event, context), text);
  assert.equal(sentence(place({ kind: "moved", from: before }), { ...context, little: 2 }), "moved (5) within cluster 3", "5 is more than a little");
  assert.equal(crowd("appeared", 1200, true), "1,200 outliers landed");
  assert.equal(sentence(place({ kind: "joined-group", verdict: "outlier", group: 0 }), { ...context, size: () => 5 }), "joined other outliers (5 now)");
  assert.equal(crowd("joined-group", 1, true), "1 outlier joined others");
  assert.equal(crowd("became-outlier", 1, true), "1 point became an outlier");
  assert.equal(crowd("removed", 1, false), "1 point was removed");
});

test("the status line says what is unusual", () => {
  const state = new State();
  const line = () => status(state, alarms(state, null, like, () => undefined));
  assert.equal(line(), "0 points · no outliers · nothing unusual");
  state.apply(place({ verdict: "outlier", cluster: null, group: 4 }));
  assert.equal(line(), "1 point · 1 outlier · nothing unusual");
  state.apply({ n: 2, t: 1, kind: "forming", group: 4, size: 5, x: 0, y: 0, ids: [] });
  assert.equal(line(), "1 point · 1 outlier · a new cluster is forming, most like 7");
  state.apply({ n: 3, t: 1, kind: "vanishing", cluster: "cats", expected: 12, seen: 0, why: "left" });
  state.apply({ n: 4, t: 1, kind: "stale", staleness: 0.4, arrivals: 99 });
  assert.equal(line(), "1 point · 1 outlier · a new cluster is forming, most like 7 · 2 more warnings");
});

test("large numbers can be read at a glance", () => {
  assert.deepEqual([1234, 999_999, 4.12e6, 3e9, 8e20].map(large), ["1,200", "1,000,000", "4.1 million", "3 billion", "more than 1,000 trillion"]);
});

test("an excess of outliers is told with its evidence, and only if nothing explains it", () => {
  const state = new State();
  const evidence = { seen: 27, of: 300, expected: 3, e_value: 4e6, since: 0 };
  const health = { excess: evidence } as Health;
  const [alarm] = alarms(state, health, like, () => undefined);
  assert.equal(alarm.text, "More outliers than expected, 27 of the last 300 rows where 3 were expected. A false alarm this strong comes once in 4 million rows");
  state.apply({ n: 1, t: 1, kind: "stale", staleness: 0.4, arrivals: 99, score: 0.01, evidence });
  assert.deepEqual(alarms(state, health, like, () => undefined).map(({ tone }) => tone), ["stale"]);
});

test("outliers are most like the cluster of the rows nearest to most of them", () => {
  const state = new State();
  const kin = new Kin(state, (row) => (row < 10 ? "6" : row < 20 ? "3" : null));
  const one = (id: string, nearest: number) => place({ id, nearest, verdict: "outlier", cluster: null, group: 1 });
  for (const event of [one("a", 1), one("b", 2), one("c", 12)]) {
    state.apply(event);
    kin.note(event);
  }
  assert.equal(kin.group(1), "6");
  assert.equal(kin.of(["a", "c"]), null, "no cluster has more than the other");
  assert.equal(kin.of(["a", "x", "y"]), null, "too few are known");
  kin.learn([one("x", 15), one("y", 16), one("a", 17)]);
  assert.equal(kin.of(["a", "x", "y"]), "3", "what is known already is newer");
});

test("numbers have as many digits as say something", () => {
  assert.deepEqual([0, 0.123456, 1.23456, 12345.6, null].map(short), ["0", "0.12", "1.23", "12,346", "–"]);
  assert.deepEqual([0, 0.0123, 0.5, null].map(percent), ["0 %", "1.2 %", "50 %", "–"]);
  assert.deepEqual([0, 0.05, 2.34, 1234].map(rate), ["0/s", "3/min", "2.3/s", "1,230/s"]);
  assert.equal(moment(12.25), "12.3 s");
  assert.match(moment(1_700_000_000), /^\d\d:\d\d:\d\d$/);
});

test("CSV is quoted where need be, and nothing in it is a formula", () => {
  const text = csv(["id", "x"], [["a", 1.5], ['b "two", three', null], ["line\nend", -2], ["=1+1", 0], ["-5", 0]]);
  assert.equal(text, 'id,x\r\na,1.5\r\n"b ""two"", three",\r\n"line\nend",-2\r\n\'=1+1,0\r\n-5,0\r\n');
});

test("the largest classes have colours when there are too many", () => {
  const few = colourClasses([{ rows: 1 }, { rows: 9 }]);
  assert.deepEqual(few, [CLASSES[0], CLASSES[1]]);
  const many = colourClasses(Array.from({ length: 25 }, (_, k) => ({ rows: k })));
  assert.deepEqual(many[24], CLASSES[0]);
  assert.deepEqual(many[0], OTHER);
});

test("pictures of every kind become RGBA", () => {
  const rgba = (bytes: number[], channels: number) => {
    const out = new Uint8ClampedArray(4);
    paint(out, Uint8Array.from(bytes), channels);
    return [...out];
  };
  assert.deepEqual(rgba([9], 1), [9, 9, 9, 255]);
  assert.deepEqual(rgba([9, 5], 2), [9, 9, 9, 5]);
  assert.deepEqual(rgba([1, 2, 3], 3), [1, 2, 3, 255]);
  assert.deepEqual(rgba([1, 2, 3, 4], 4), [1, 2, 3, 4]);
});

test("names from outside cannot turn the words around them", () => {
  assert.equal(legible("oak"), "oak");
  assert.equal(legible("a\u202eb\u2066c\u200fd\u061c"), "a\ufffdb\ufffdc\ufffdd\ufffd");
  assert.equal(legible("line\nbreak\u0007"), "line\ufffdbreak\ufffd");
  assert.equal(legible("\u05d0\u05d1"), "\u2068\u05d0\u05d1\u2069", "it keeps to itself");
  assert.equal(called("x\u202ey"), "x\ufffdy");
});

test("an update of the map, a title and a notice are told in words", () => {
  const event = {
    n: 9, t: 9, kind: "map-updated", version: 2, from: 1, reverted: false, who: "anna", rows: 240, added: 30, removed: 0, points: 42, taken_in: 30,
    clusters: { born: [{ name: "group 12", title: null, rows: 30, x: 0, y: 0 }], gone: [{ name: "7" }], moved: [] },
  } as LiveEvent;
  assert.equal(sentence(event, context), "The map was updated to version 2 by anna: 30 rows taken in; new: group 12; gone: 7");
  assert.equal(sentence({ ...event, reverted: true, version: 1, who: null } as LiveEvent, context), "The map went back to version 1");
  const renamed = { n: 1, t: 1, kind: "renamed", cluster: "oak", group: null, title: "Old oaks", before: null, who: "anna" } as LiveEvent;
  assert.equal(sentence(renamed, context), "oak was renamed to Old oaks by anna");
  assert.equal(sentence({ n: 1, t: 1, kind: "notice", notice: 7, state: "dismissed", who: null, note: "known" }, context), "The notice that cluster 3 is vanishing was dismissed: known");
  const forming = { n: 1, t: 1, kind: "forming", group: 3, size: 77, x: 0, y: 0, ids: [], labels: [{ label: "0", count: 71 }] } as LiveEvent;
  assert.equal(sentence(forming, context), "A new cluster is forming: 77 outliers, 71 labelled 0, most like 7");
  const titled = { ...context, title: (name: string) => `the ${name}` };
  assert.match(sentence({ n: 1, t: 1, kind: "recovered", cluster: "oak" }, titled), /^the oak receives points again/);
});
