import assert from "node:assert/strict";
import { test } from "node:test";
import { Ids, type Columns } from "../../src/columns";
import { between, match, origin, similarity, stages } from "../../src/morph";

function columns(places: number[][], ids?: string[]): Columns {
  const part = (d: number) => Float32Array.from(places, (place) => place[d]);
  const text = ids && new TextEncoder().encode(ids.join("\n"));
  return { rows: places.length, x: part(0), y: part(1), z: places[0]?.length === 3 ? part(2) : null, cluster: new Uint32Array(places.length), ids: new Ids(places.length, text) };
}

const near = (got: readonly number[], wanted: readonly number[]) => wanted.forEach((value, d) => assert.ok(Math.abs(value - got[d]) < 1e-4, `${got} is not ${wanted}`));

test("rows are matched by their ids, in whatever order", () => {
  const four = [[0, 0], [1, 0], [2, 0], [3, 0]];
  const old = columns(four.slice(0, 3), ["a", "b", "c"]);
  assert.deepEqual([...match(old, columns(four, ["a", "b", "c", "d"]))], [0, 1, 2], "new ones after the old");
  assert.deepEqual([...match(columns(four, ["a", "b", "c", "d"]), old)], [0, 1, 2, -1]);
  assert.deepEqual([...match(columns(four, ["d", "c", "x", "a"]), old)], [-1, 2, -1, 0], "another order, some gone");
  assert.deepEqual([...match(old, columns(four, ["a", "b", "cc", "d"]))], [0, 1, -1], "an id that only begins so is another");
  assert.deepEqual([...match(columns(four), columns(four.slice(0, 2)))], [0, 1, -1, -1], "without ids, by number");
});

test("the similarity of two versions is found", () => {
  const places = [[0, 0], [4, 1], [-2, 3], [1, -5], [6, 6]];
  const [scale, angle] = [1.5, 0.7];
  const [c, s] = [scale * Math.cos(angle), scale * Math.sin(angle)];
  const moved = places.map(([x, y]) => [c * x - s * y + 10, s * x + c * y - 3]);
  const ids = ["a", "b", "c", "d", "e"];
  const [from, to] = [columns(places, ids), columns(moved, ids)];
  const found = similarity(from, to, match(to, from));
  places.forEach((place, k) => near(between([...place, 0], [0, 0, 0], found, { rigid: 1, rest: 0, grown: 0 }), moved[k]));
  const none = similarity(from, columns([[1, 1]], ["z"]), new Int32Array([-1]));
  assert.deepEqual([...none.matrix], [1, 0, 0, 0, 1, 0, 0, 0, 1], "where nothing is common, nothing is brought over");
});

test("a row goes from where it was to where it is, and new rows stay", () => {
  const [old, now] = [columns([[0, 0], [2, 0], [0, 2]], ["a", "b", "c"]), columns([[1, 1], [4, 0], [0, 5], [9, 9]], ["a", "b", "c", "new"])];
  const way = origin(old, now);
  assert.deepEqual([...way.fresh], [0, 0, 0, 1]);
  assert.deepEqual([way.x[1], way.y[1]], [2, 0]);
  assert.deepEqual([way.x[3], way.y[3]], [9, 9]);
  near(between([2, 0, 0], [4, 0, 0], way.similarity, stages(0)), [2, 0, 0]);
  near(between([2, 0, 0], [4, 0, 0], way.similarity, stages(1)), [4, 0, 0]);
});

test("first the whole map, then each row, then what is new", () => {
  let before = stages(0);
  assert.deepEqual(before, { rigid: 0, rest: 0, grown: 0 });
  assert.deepEqual(stages(1), { rigid: 1, rest: 1, grown: 1 });
  for (let share = 0; share <= 1; share += 0.01) {
    const now = stages(share);
    assert.ok(now.rigid >= before.rigid && now.rest >= before.rest && now.grown >= before.grown, "nothing goes back");
    assert.ok(now.rigid >= now.rest && now.rest >= now.grown, "one after the other");
    if (now.grown > 0) assert.ok(now.rigid === 1 && now.rest > 0.9, "new rows come last");
    before = now;
  }
});
