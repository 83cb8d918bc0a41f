import assert from "node:assert/strict";
import { test } from "node:test";
import type { Camera } from "../../src/camera";
import { gapOf, seed, Spread } from "../../src/spread";
import { State } from "../../src/state";
import type { PlacedEvent } from "../../src/types";

const camera = (scale: number) => ({ width: 800, height: 640, scale, zoom: 1, toScreen: (x: number, y: number) => ({ x: x * scale, y: -y * scale }) }) as unknown as Camera;
const outlier = (n: number, id: string, group: number, x: number): PlacedEvent => ({
  n, t: n, kind: "appeared", id, label: null, x, y: 0, verdict: "outlier", score: 0, group, cluster: null, nearest: 0,
  nearest_id: "0", nearest_distance: 9, neighbours: 0, from: null,
});

test("seeds keep apart", () => {
  const seeds = Array.from({ length: 200 }, (_, k) => seed(k));
  for (let i = 0; i < 200; i++) for (let j = 0; j < i; j++) {
    assert.ok(Math.hypot(seeds[i].x - seeds[j].x, seeds[i].y - seeds[j].y) > 1.4, `${i} and ${j}`);
  }
  assert.equal(gapOf(1, 1000, 4), 1.3 * 4, "no farther apart than lets each be seen");
});

test("members of a group are spread within its room, and one alone is where it is", () => {
  const state = new State();
  const spread = new Spread(state, (point) => point, () => 10);
  for (let n = 1; n <= 100; n++) state.apply(outlier(n, `m${n}`, 7, 0.001 * n));
  state.apply(outlier(101, "alone", 8, 20));
  const told = new Set<string>();
  spread.touchAll();
  spread.settle((id) => told.add(id));
  assert.equal(told.size, 100);
  const view = camera(6);
  const places = [...state.points.values()].map((point) => ({ point, at: spread.screen(point, view) }));
  for (const { point, at } of places) {
    if (point.id === "alone") assert.deepEqual(at, { x: 120, y: -0 });
    else assert.ok(Math.hypot(at.x - 0.006, at.y) < 6 * 10, `${point.id} is nearer than the nearest row`);
  }
  assert.equal(new Set(places.map(({ at }) => `${at.x.toFixed(1)} ${at.y.toFixed(1)}`)).size, 101);
  // One that moves a little keeps its rank: no other member jumps.
  const before = spread.screen(state.points.get("m50")!, view);
  state.apply({ ...outlier(102, "m3", 7, 0.01), kind: "moved", from: state.points.get("m3")! });
  spread.touchAll();
  spread.settle(() => {});
  assert.deepEqual(spread.screen(state.points.get("m50")!, view), before);
});
