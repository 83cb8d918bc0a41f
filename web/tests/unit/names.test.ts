// Where names of clusters go.

import assert from "node:assert/strict";
import { test } from "node:test";
import { meets, type Rect } from "../../src/geometry";
import { roomForName } from "../../src/names";

const view = { width: 390, height: 500 };
const around = (x: number, y: number, width = 200): Rect => ({ x: x - width / 2, y: y - 12, width, height: 24 });

test("a name stands at the middle of its cluster, or hardly beside it", () => {
  assert.deepEqual(roomForName(around(180, 200), view, []), around(180, 200));
  const taken = [around(180, 200)];
  const second = roomForName(around(180, 204), view, taken) as Rect;
  assert.equal(second.x, 80);
  assert.ok(Math.abs(second.y - 192) <= 24 && !meets(second, taken[0]), JSON.stringify(second));
});

test("a name without room is left out, and never put where another cluster is", () => {
  const taken = [around(180, 180), around(180, 204), around(180, 228)];
  assert.equal(roomForName(around(180, 204), view, taken), undefined);
});

test("a name stays within the view, and at most half of its width from its cluster", () => {
  for (const x of [0, 12, 380, 390]) {
    const rect = roomForName(around(x, 200), view, []) as Rect;
    assert.ok(rect.x >= 0 && rect.x + rect.width <= view.width, `${x}: ${rect.x}`);
    assert.ok(Math.abs(rect.x + rect.width / 2 - x) <= rect.width / 2 + 4, `${x}: ${rect.x}`);
  }
  assert.ok((roomForName(around(100, 2), view, []) as Rect).y >= 0);
  assert.equal(roomForName(around(195, 200, 420), view, []), undefined, "wider than the view");
});
