import assert from "node:assert/strict";
import { test } from "node:test";
import { Turn } from "../../src/turn";

const BOUNDS = [-1, -2, -3, 3, 4, 5];

test("a map in the plane is never turned", () => {
  const turn = new Turn();
  turn.hold([-1, -2, 3, 4]);
  turn.set(1, 0.5);
  assert.equal(turn.space, false);
  assert.deepEqual(turn.plane(0.1, 0.2), { x: 0.1, y: 0.2 });
  assert.equal(turn.depth(0.1, 0.2), 0);
});

test("a turn keeps distances, the middle, and what is near before what is far", () => {
  const turn = new Turn();
  turn.hold(BOUNDS);
  assert.deepEqual(turn.middle, [1, 1, 1]);
  for (const [yaw, pitch] of [[0, 0], [0.7, 0.3], [-2, -1.2], [9, 1.5]]) {
    turn.set(yaw, pitch);
    assert.deepEqual(turn.plane(1, 1, 1), { x: 1, y: 1 });
    const at = turn.plane(3, -1, 2);
    const far = Math.hypot(at.x - 1, at.y - 1, turn.depth(3, -1, 2) * turn.reach);
    assert.ok(Math.abs(far - 3) < 1e-5, `${far} is the distance from the middle`);
  }
  turn.set(0, 0);
  assert.ok(turn.depth(1, 1, 2) > turn.depth(1, 1, 0), "z points towards the viewer");
  assert.deepEqual(turn.plane(2, 3, 9), { x: 2, y: 3 });
  turn.set(Math.PI / 2, 0);
  assert.ok(Math.abs(turn.plane(1, 1, 2).x - 2) < 1e-6, "dragged to the right, what was near goes right");
  turn.set(0, Math.PI / 2);
  assert.ok(Math.abs(turn.plane(1, 1, 2).y) < 1e-6, "dragged down, what was near goes down");
});
