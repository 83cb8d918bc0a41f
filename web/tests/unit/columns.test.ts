import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_CLUSTER, parseColumns } from "../../src/columns";
import { Grid } from "../../src/grid";

/** The answer of `GET /api/map/columns`, as the server writes it. */
function answer(x: number[], y: number[], cluster: number[], ids?: string[], pad = true): ArrayBuffer {
  const parts: [string, string, Uint8Array][] = [
    ["x", "f32", new Uint8Array(new Float32Array(x).buffer)],
    ["y", "f32", new Uint8Array(new Float32Array(y).buffer)],
    ["cluster", "u32", new Uint8Array(new Uint32Array(cluster).buffer)],
  ];
  if (ids) parts.push(["ids", "utf8", new TextEncoder().encode(ids.join("\n"))]);
  let offset = 0;
  const columns = parts.map(([name, type, bytes]) => {
    const entry = { name, type, offset, length: bytes.length };
    offset += Math.ceil(bytes.length / 8) * 8;
    return entry;
  });
  let header = JSON.stringify({ rows: x.length, columns });
  while (pad ? (header.length + 4) % 8 !== 0 : header.length % 8 !== 0) header += " ";
  const whole = new Uint8Array(4 + header.length + offset);
  new DataView(whole.buffer).setUint32(0, header.length, true);
  whole.set(new TextEncoder().encode(header), 4);
  columns.forEach((column, k) => whole.set(parts[k][2], 4 + header.length + column.offset));
  return whole.buffer;
}

test("columns are read whether or not they are aligned in the answer", () => {
  for (const pad of [true, false]) {
    const columns = parseColumns(answer([1, 2.5, -3], [4, 5, 6], [0, NO_CLUSTER, 2], ["a", "b c", "ü"], pad));
    assert.equal(columns.rows, 3);
    assert.deepEqual([...columns.x], [1, 2.5, -3]);
    assert.deepEqual([...columns.y], [4, 5, 6]);
    assert.deepEqual([...columns.cluster], [0, NO_CLUSTER, 2]);
    assert.deepEqual([0, 1, 2].map((row) => columns.ids.at(row)), ["a", "b c", "ü"]);
  }
});

test("aligned columns are views of the answer, not copies", () => {
  const bytes = answer([1, 2], [3, 4], [0, 1]);
  assert.equal(parseColumns(bytes).x.buffer, bytes);
});

test("answers that are cut or wrong are refused with a reason", () => {
  const good = answer([1, 2, 3], [1, 2, 3], [0, 0, 0]);
  assert.throws(() => parseColumns(new ArrayBuffer(2)), /empty/);
  assert.throws(() => parseColumns(good.slice(0, 20)), /within the header/);
  assert.throws(() => parseColumns(good.slice(0, good.byteLength - 12)), /cluster.*cut short/);
  assert.throws(() => parseColumns(answer([1, 2, 3], [1, 2], [0, 0, 0])), /column y.*3 values/);
});

test("ids are found: the exact one first, then those that hold the text", () => {
  const { ids } = parseColumns(answer([0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], ["row-10", "row-1", "other", "arrow-1"]));
  assert.deepEqual(ids.find("row-1", 10), [1, 0, 3]);
  assert.deepEqual(ids.find("row-1", 2), [1, 0]);
  assert.deepEqual(ids.find("arrow-1", 5), [3]);
  assert.deepEqual(ids.find("row-1\nother", 5), [1], "a line end in the text finds the row where it begins");
  assert.deepEqual(ids.find("nothing", 5), []);
  assert.deepEqual(ids.find("", 5), []);
});

test("row numbers are ids where there are none", () => {
  const many = Array.from({ length: 1300 }, () => 0);
  const { ids } = parseColumns(answer(many, many, many));
  assert.equal(ids.at(17), "17");
  assert.deepEqual(ids.find("12", 4), [12, 120, 121, 122]);
  assert.deepEqual(ids.find("0", 4), [0]);
  assert.deepEqual(ids.find("1300", 4), []);
  assert.deepEqual(ids.find("012", 4), []);
  assert.deepEqual(ids.find("x", 4), []);
});

test("the grid finds the nearest row, as trying all of them does", () => {
  let word = 5;
  const random = () => ((word = (word * 1664525 + 1013904223) >>> 0) / 2 ** 32);
  const x = Array.from({ length: 500 }, () => random() * 100 - 50);
  const y = Array.from({ length: 500 }, () => random() * 10);
  const columns = parseColumns(answer(x, y, x.map(() => 0)));
  const grid = new Grid(columns);
  const odd = (row: number) => row % 2 === 1;
  for (let k = 0; k < 300; k++) {
    const [px, py, reach] = [random() * 140 - 70, random() * 30 - 10, random() * 8];
    const distance = (row: number) => (columns.x[row] - px) ** 2 + (columns.y[row] - py) ** 2;
    const all = x.map((_, row) => row).sort((a, b) => distance(a) - distance(b));
    const within = all.filter((row) => odd(row) && distance(row) <= reach ** 2);
    assert.equal(grid.nearest(px, py, reach, odd), within[0] ?? -1);
    assert.equal(grid.nearestAny(px, py), all[0]);
  }
});
