import assert from "node:assert/strict";
import { test } from "node:test";
import { crosses, nearest, placeCallouts, type Subject } from "../../src/callouts";
import type { Camera } from "../../src/camera";
import { meets, type Rect } from "../../src/geometry";

const camera = { width: 800, height: 560 } as Camera;
const around = (x: number, y: number, reach: number): Rect => ({ x: x - reach, y: y - reach, width: 2 * reach, height: 2 * reach });

function dice(seed: number): () => number {
  let word = seed;
  return () => ((word = (word * 1664525 + 1013904223) >>> 0) / 2 ** 32);
}

test("a line is known to lead through a rectangle", () => {
  const box = { x: 10, y: 10, width: 4, height: 4 };
  assert.equal(crosses({ x: 0, y: 12 }, { x: 100, y: 12 }, box), true, "however long it is");
  assert.equal(crosses({ x: 0, y: 0 }, { x: 9, y: 9 }, box), false, "it ends before it");
  assert.equal(crosses({ x: 0, y: 20 }, { x: 20, y: 20 }, box), false);
  assert.equal(crosses({ x: 12, y: 0 }, { x: 12, y: 30 }, box), true);
  assert.deepEqual(nearest(box, { x: 0, y: 12 }), { x: 10, y: 12 });
});

test("callouts cover no outlier, and their lines cross no group", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = dice(seed * 7919);
    const groups = Array.from({ length: 9 }, () => around(100 + 600 * random(), 80 + 400 * random(), 14));
    const outliers = Array.from({ length: 60 }, () => around(20 + 760 * random(), 20 + 520 * random(), 9));
    const hard = [...groups, ...outliers];
    const subjects: Subject[] = groups.slice(0, 2).map(({ x, y }) => ({ id: "", tone: "forming", at: { x: x + 14, y: y + 14 }, reach: 14, title: "", text: "", width: 160 }));
    const placed = placeCallouts(subjects, camera, hard, [], []);
    assert.equal(placed.length, 2, `seed ${seed}`);
    for (const { rect, at } of placed) {
      assert.deepEqual(hard.filter((other) => meets(other, rect)), [], `what it covers, seed ${seed}`);
      const others = groups.filter((group) => !meets(group, around(at.x, at.y, 1)));
      assert.equal(others.some((group) => crosses(at, nearest(rect, at), group)), false, `its line, seed ${seed}`);
    }
  }
});
