import assert from "node:assert/strict";
import { test } from "node:test";
import type { Camera } from "../../src/camera";
import { byChance, pointsCsv, rest, shares, summary } from "../../src/differences";
import { beside, borderOf, shadingOf } from "../../src/shading";
import { addressOf, fits, halves, moveEdge, moveStretch, PRESETS, presetTimes, timesIn, type Edges, type Range } from "../../src/stretches";
import { Timeline } from "../../src/timeline";
import type { Comparison, ComparedPoint, Difference, Region } from "../../src/types";
import { onDay } from "../../src/words";

const difference = (change: Partial<Difference>): Difference => ({ a: 10, b: 30, share_a: 0.1, share_b: 0.3, p: 1e-6, adjusted: 1e-5, change: "gained", ...change });
const region = (min: number[], max: number[], change: Partial<Difference>): Region => ({ min, max, ...difference(change) });

test("stretches fit when neither is empty and A ends before B begins", () => {
  assert.ok(fits([0, 5, 5, 10]));
  assert.ok(fits([0, 1, 8, 9]));
  for (const bad of [[0, 0, 5, 10], [0, 6, 5, 10], [0, 5, 5, 5], [3, 2, 5, 6]] as const) assert.ok(!fits(bad), String(bad));
  assert.deepEqual(halves([100, 201]), [100, 151, 151, 201]);
  assert.ok(fits(halves([0, 2])));
  assert.ok(!fits(halves([0, 1])), "one event has no halves");
  assert.ok(!fits(halves([7, 7])));
});

test("an edge goes where it is moved, as far as the others let it", () => {
  const [edges, range]: [Edges, Range] = [[10, 20, 30, 40], [0, 50]];
  assert.deepEqual(moveEdge(edges, 0, 3.4, range), [3, 20, 30, 40]);
  assert.deepEqual(moveEdge(edges, 0, -Infinity, range), [0, 20, 30, 40]);
  assert.deepEqual(moveEdge(edges, 0, 99, range), [19, 20, 30, 40]);
  assert.deepEqual(moveEdge(edges, 1, 0, range), [10, 11, 30, 40]);
  assert.deepEqual(moveEdge(edges, 1, 99, range), [10, 30, 30, 40]);
  assert.deepEqual(moveEdge(edges, 2, 0, range), [10, 20, 20, 40]);
  assert.deepEqual(moveEdge(edges, 2, 99, range), [10, 20, 39, 40]);
  assert.deepEqual(moveEdge(edges, 3, Infinity, range), [10, 20, 30, 50]);
  // However it is moved, it fits.
  let word = 7;
  const random = () => ((word = (word * 1664525 + 1013904223) >>> 0) / 2 ** 32);
  let now: Edges = edges;
  for (let k = 0; k < 2000; k++) {
    now = random() < 0.5 ? moveEdge(now, Math.floor(4 * random()), 60 * random() - 5, range) : moveStretch(now, Math.floor(2 * random()), 60 * random() - 30, range);
    assert.ok(fits(now) && now[0] >= 0 && now[3] <= 50, String(now));
  }
});

test("a stretch keeps its length when it is moved", () => {
  const [edges, range]: [Edges, Range] = [[10, 20, 30, 40], [0, 50]];
  assert.deepEqual(moveStretch(edges, 0, 4, range), [14, 24, 30, 40]);
  assert.deepEqual(moveStretch(edges, 0, 99, range), [20, 30, 30, 40]);
  assert.deepEqual(moveStretch(edges, 0, -99, range), [0, 10, 30, 40]);
  assert.deepEqual(moveStretch(edges, 1, -99, range), [10, 20, 20, 30]);
  assert.deepEqual(moveStretch(edges, 1, Infinity, range), [10, 20, 40, 50]);
  // One that began before what the slider shows stays there, and does not jump.
  assert.deepEqual(moveStretch([10, 20, 30, 40], 0, -1, [15, 50]), [10, 20, 30, 40]);
});

test("presets are stretches that end now and so long ago", () => {
  const yesterday = PRESETS.find(({ name }) => name.includes("yesterday"));
  assert.ok(yesterday);
  assert.deepEqual(presetTimes(yesterday, 1_000_000), [910_000, 913_600, 996_400, 1_000_000]);
  for (const preset of PRESETS) {
    const [a0, a1, b0, b1] = presetTimes(preset, 0);
    assert.ok(a1 - a0 === b1 - b0 && a1 <= b0, preset.name);
  }
});

test("the address says what is compared", () => {
  const times = [1763400000.123456, 1763400001, 1763400001, 1763400002.5] as const;
  assert.deepEqual(timesIn(addressOf(times)), times);
  for (const bad of ["", "#", "#compare=", "#compare=1,2,3", "#compare=1,2,3,4,5", "#compare=1,2,x,4", "#compare=4,3,2,1", "#else=1,2,3,4"]) assert.equal(timesIn(bad), null, bad);
});

test("times of events are found in memory, and older ones by asking for few", async () => {
  const t = (n: number) => Math.floor(n / 10) * 5; // ten events share a time
  const asked: number[] = [];
  const timeline = new Timeline((n) => (n > 900 ? t(n) : undefined), async (n) => {
    asked.push(n);
    return t(n);
  });
  assert.equal(timeline.known(950), 475);
  assert.equal(timeline.known(50), undefined);
  assert.deepEqual(await timeline.edges([5, 10, 470, 480], [0, 1000]), [9, 19, 939, 959]);
  assert.ok(asked.length < 30, `${asked.length} events asked for`);
  assert.deepEqual(await timeline.times([9, 19, 939, 959], 1000), [5, 10, 470, 480]);
  const before = asked.length;
  assert.equal(await timeline.time(10), 5);
  assert.equal(asked.length, before, "nothing is asked twice");
  assert.deepEqual(await timeline.edges([-10, -5, 900, 1000], [0, 1000]), [0, 0, 1000, 1000]);
  // Nothing comes after the latest: then the stretch ends a little later, and holds the same events.
  const times = await timeline.times([9, 19, 939, 1000], 1000);
  assert.ok(times[3] > 500 && times[3] < 500.01);
  assert.deepEqual(await timeline.edges(times, [0, 1000]), [9, 19, 939, 1000]);
});

test("events that came at once are not torn apart", async () => {
  const timeline = new Timeline((n) => Math.floor(n / 10) * 5);
  assert.deepEqual(await timeline.apart([0, 11, 18, 100], [0, 100]), [0, 9, 19, 100]);
  assert.deepEqual(await timeline.apart([9, 19, 29, 39], [0, 100]), [9, 19, 29, 39]);
  const once = new Timeline(() => 7);
  assert.ok(!fits(await once.apart(halves([0, 100]), [0, 100])));
});

test("what became of the regions is one sentence", () => {
  const some = (gained: number, lost: number, same: number) => [["gained", gained], ["lost", lost], [null, same]]
    .flatMap(([change, many]) => Array.from({ length: many as number }, () => ({ change: change as Difference["change"] })));
  assert.equal(summary(some(0, 0, 9)), "No region gained or lost share beyond chance.");
  assert.equal(summary([]), "No region gained or lost share beyond chance.");
  assert.equal(summary(some(3, 2, 66)), "Of 71 regions, 3 gained and 2 lost share beyond chance.");
  assert.equal(summary(some(1, 0, 70)), "Of 71 regions, 1 gained and none lost share beyond chance.");
  assert.equal(shares(difference({})), "10 % → 30 %");
  assert.equal(byChance(difference({ adjusted: 1e-5 })), "by chance once in 100,000 comparisons");
  assert.equal(byChance(difference({ adjusted: 7e-19 })), "by chance once in more than 1,000 trillion comparisons");
  assert.equal(byChance(difference({ adjusted: 0 })), "by chance once in more than 1,000 trillion comparisons");
});

const point = (id: string, more: Partial<ComparedPoint> = {}): ComparedPoint => ({ id, label: null, cluster: "oak", verdict: "interpolated", t: 5, x: 1, y: 2, ...more });
const comparison = (newcomers: ComparedPoint[], left: ComparedPoint[]): Comparison => ({
  version: 1, a: { from: 0, to: 1, points: 1, events: 1 }, b: { from: 1, to: 2, points: 1, events: 1 }, test: "a test", level: 0.01, outliers: difference({}), clusters: [], regions: [],
  newcomers: { count: newcomers.length, points: newcomers }, left: { count: left.length, points: left },
});

test("newcomers and those who left are one CSV", () => {
  assert.equal(pointsCsv(comparison([point("n", { label: "a,b" })], [point("=l", { cluster: null, verdict: "outlier" })])),
    "change,id,label,cluster,verdict,x,y,t\r\nnewcomer,n,\"a,b\",oak,interpolated,1,2,5\r\nleft,'=l,,,outlier,1,2,5\r\n");
  assert.equal(pointsCsv(comparison([point("n", { z: 3 })], [])), "change,id,label,cluster,verdict,x,y,z,t\r\nnewcomer,n,,oak,interpolated,1,2,3,5\r\n");
});

test("a table says what it leaves out", () => {
  const points = (many: number) => Array.from({ length: many }, (_, k) => point(`p${k}`));
  assert.equal(rest({ count: 40, points: points(40) }), "");
  assert.equal(rest({ count: 240, points: points(240) }), "40 more in the CSV.");
  assert.equal(rest({ count: 5000, points: points(1000) }), "800 more in the CSV. The server lists the latest 1,000 of 5,000.");
});

test("boxes that touch have one border around them", () => {
  const box = (x0: number, y0: number, x1: number, y1: number) => ({ x0, y0, x1, y1 });
  const length = (boxes: ReturnType<typeof box>[]) => borderOf(boxes).reduce((sum, [p, q]) => sum + Math.abs(p.x - q.x) + Math.abs(p.y - q.y), 0);
  assert.equal(borderOf([box(0, 0, 2, 1)]).length, 4);
  assert.equal(length([box(0, 0, 2, 1)]), 6);
  assert.equal(length([box(0, 0, 2, 1), box(2, 0, 3, 1)]), 8);
  // A part of a side is shared.
  assert.equal(length([box(0, 0, 1, 4), box(1, 1, 2, 2), box(1, 2, 2, 3)]), 12);
  assert.equal(length([box(0, 0, 1, 1), box(5, 5, 6, 6)]), 8);
});

test("regions are shaded the stronger the more they changed, and not in space", () => {
  const shading = shadingOf([
    region([0, 0], [1, 1], { change: "gained", share_a: 0.1, share_b: 0.12 }), region([1, 0], [2, 1], { change: "gained", share_a: 0, share_b: 0.1 }),
    region([2, 0], [3, 1], { change: null }), region([3, 0], [4, 1], { change: "lost", share_a: 0.2, share_b: 0.1 }),
  ]);
  assert.ok(shading);
  assert.equal(shading.gained.shades.length, 2);
  assert.equal(shading.lost.shades.length, 1);
  assert.ok(shading.gained.shades[0].alpha < shading.lost.shades[0].alpha && shading.lost.shades[0].alpha < shading.gained.shades[1].alpha);
  assert.ok(shading.gained.shades[1].alpha < 0.5, "points are seen through it");
  assert.equal(shadingOf([region([0, 0, 0], [1, 1, 1], {})]), null);
});

test("words do not cover a small shade, and stay where it is large", () => {
  // One unit is a pixel, and y points up.
  const camera = { toScreen: (x: number, y: number) => ({ x, y: 500 - y }) } as unknown as Camera;
  const words = { x: 100, y: 200, width: 100, height: 24 };
  const shaded = (height: number) => shadingOf([region([120, 280], [160, 280 + height], { change: "gained" })]);
  const [small, large, none] = [shaded(30), shaded(300), shadingOf([])];
  assert.ok(small && large && none);
  assert.deepEqual(beside(words, camera, small), { ...words, y: 190 - 27 });
  assert.deepEqual(beside(words, camera, large), words);
  assert.deepEqual(beside(words, camera, none), words);
});

test("a moment of another day has its day", () => {
  const now = new Date();
  assert.match(onDay(now.getTime() / 1000), /^\d\d:\d\d:\d\d$/);
  assert.match(onDay(now.getTime() / 1000 - 3 * 86_400), /^\d{1,2} \w{3,4} \d\d:\d\d$/);
  assert.equal(onDay(12.5), "12.5 s");
});
