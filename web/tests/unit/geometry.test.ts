import assert from "node:assert/strict";
import { test } from "node:test";
import { hull, inside, insideOf, thin } from "../../src/geometry";

// An L: the square from 0 to 4 without its upper right quarter.
const L = [[0, 0], [4, 0], [4, 2], [2, 2], [2, 4], [0, 4]].map(([x, y]) => ({ x, y }));

test("a lasso holds what lies inside it, hollows left out", () => {
  for (const [x, y, within] of [[1, 1, true], [3, 1, true], [1, 3, true], [3, 3, false], [5, 1, false], [-1, 1, false], [1, 5, false]] as const) {
    assert.equal(inside(L, x, y), within, `${x}, ${y}`);
    assert.equal(insideOf(L)(x, y), within, `${x}, ${y} with its box`);
  }
});

test("a lasso that crosses itself leaves out what it went around twice", () => {
  const star = [0, 2, 4, 1, 3].map((k) => ({ x: Math.cos((k * 2 * Math.PI) / 5), y: Math.sin((k * 2 * Math.PI) / 5) }));
  assert.equal(inside(star, 0, 0), false);
  assert.equal(inside(star, 0.8, 0), true);
});

test("no lasso holds nothing", () => {
  assert.equal(inside([], 0, 0), false);
  assert.equal(insideOf([])(0, 0), false);
  assert.equal(insideOf([{ x: 0, y: 0 }, { x: 1, y: 1 }])(0.5, 0.5), false);
});

test("the hull is convex and leaves nothing out", () => {
  let word = 3;
  const random = () => ((word = (word * 1664525 + 1013904223) >>> 0) / 2 ** 32);
  const places = Array.from({ length: 60 }, () => ({ x: random(), y: random() }));
  const corners = hull(places);
  for (let k = 0; k < corners.length; k++) {
    const [a, b] = [corners[k], corners[(k + 1) % corners.length]];
    for (const p of places) assert.ok((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x) >= -1e-12);
  }
  const same = { x: 1, y: 1 };
  assert.ok(hull([same, same, same]).length <= 2);
  assert.deepEqual(hull([{ x: 0, y: 0 }, { x: 1, y: 1 }, { x: 2, y: 2 }]), [{ x: 0, y: 0 }, { x: 2, y: 2 }]);
});

test("a thinned lasso keeps its first place and none nearer than asked", () => {
  const path = Array.from({ length: 100 }, (_, k) => ({ x: k * 0.5, y: 0 }));
  const kept = thin(path, 2);
  assert.deepEqual(kept[0], path[0]);
  for (let k = 1; k < kept.length; k++) assert.ok(kept[k].x - kept[k - 1].x >= 2);
});
