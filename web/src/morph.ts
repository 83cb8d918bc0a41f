// From one version of the map to another: which row is which, and the way that each takes.

import type { Columns } from "./columns";

/** Seconds that a morph takes: calm enough to follow. */
export const MORPH = 2;

/** Places as mixed from three steps, each from 0 to 1: the map as a whole is brought over (`rigid`), then each row goes where it belongs (`rest`), then new rows show (`grown`). */
export interface Stages { rigid: number; rest: number; grown: number }

const smooth = (share: number): number => {
  const s = Math.min(Math.max(share, 0), 1);
  return s * s * (3 - 2 * s);
};

/** The steps at a share of the whole morph. */
export function stages(share: number): Stages {
  return { rigid: smooth(share / 0.32), rest: smooth((share - 0.25) / 0.45), grown: smooth((share - 0.66) / 0.34) };
}

/** A linear map and a shift, line by line. */
export interface Similarity { matrix: Float32Array; offset: [number, number, number] }

/** For each row of one version its row in another, -1 where it is not there. */
export function match(of: Columns, among: Columns): Int32Array {
  const rows = new Int32Array(of.rows).fill(-1);
  // A version mostly has the rows of the one before in their order, and then new ones.
  const common = !of.ids.named || !among.ids.named ? Math.min(of.rows, among.rows)
    : of.ids.isStartOf(among.ids) ? of.rows : among.ids.isStartOf(of.ids) ? among.rows : 0;
  for (let row = 0; row < common; row++) rows[row] = row;
  if (common > 0) return rows;
  const known = numbers(among);
  for (let row = 0; row < of.rows; row++) rows[row] = known.get(of.ids.at(row)) ?? -1;
  return rows;
}

function numbers({ rows, ids }: Columns): Map<string, number> {
  const found = new Map<string, number>();
  for (let row = 0; row < rows; row++) found.set(ids.at(row), row);
  return found;
}

/** The similarity (scale, rotation, shift) that brings the rows of one version nearest to the same rows of another: least squares. In space without a rotation. */
export function similarity(from: Columns, to: Columns, fromOf: Int32Array): Similarity {
  const [mean, goal] = [[0, 0, 0], [0, 0, 0]];
  let many = 0;
  const pairs = (use: (p: number[], q: number[]) => void) => {
    for (let row = 0; row < to.rows; row++) {
      const old = fromOf[row];
      if (old >= 0) use([from.x[old], from.y[old], from.z?.[old] ?? 0], [to.x[row], to.y[row], to.z?.[row] ?? 0]);
    }
  };
  pairs((p, q) => {
    many++;
    for (const d of [0, 1, 2]) {
      mean[d] += p[d];
      goal[d] += q[d];
    }
  });
  if (many < 2) return { matrix: new Float32Array([1, 0, 0, 0, 1, 0, 0, 0, 1]), offset: [0, 0, 0] };
  for (const d of [0, 1, 2]) {
    mean[d] /= many;
    goal[d] /= many;
  }
  let [along, across, norm] = [0, 0, 0];
  pairs((p, q) => {
    const [a, b] = [p.map((value, d) => value - mean[d]), q.map((value, d) => value - goal[d])];
    along += a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    across += a[0] * b[1] - a[1] * b[0];
    norm += a[0] ** 2 + a[1] ** 2 + a[2] ** 2;
  });
  const [c, s] = norm === 0 ? [1, 0] : [along / norm, from.z ? 0 : across / norm];
  const matrix = new Float32Array([c, -s, 0, s, c, 0, 0, 0, from.z ? c : 1]);
  const offset = goal.map((value, d) => value - matrix[3 * d] * mean[0] - matrix[3 * d + 1] * mean[1] - matrix[3 * d + 2] * mean[2]);
  return { matrix, offset: offset as [number, number, number] };
}

/** How the rows of a map are drawn on their way: where each was in the other version, and which were not there. */
export interface Origin { x: Float32Array; y: Float32Array; z: Float32Array | null; fresh: Float32Array; similarity: Similarity }

/** A morph on its way. */
export interface Way { origin: Origin; stages: Stages }

export function origin(other: Columns, drawn: Columns): Origin {
  const rows = match(drawn, other);
  const part = (name: "x" | "y" | "z"): Float32Array | null => {
    const [was, is] = [other[name], drawn[name]];
    return was && is && is.map((value, row) => (rows[row] < 0 ? value : was[rows[row]]));
  };
  return {
    x: part("x") as Float32Array, y: part("y") as Float32Array, z: part("z"),
    fresh: Float32Array.from(rows, (row) => (row < 0 ? 1 : 0)), similarity: similarity(other, drawn, rows),
  };
}

/** Where a place is on its way from another version. */
export function between(from: readonly number[], to: readonly number[], { matrix, offset }: Similarity, { rigid, rest }: Stages): number[] {
  return [0, 1, 2].map((d) => {
    const brought = matrix[3 * d] * from[0] + matrix[3 * d + 1] * from[1] + matrix[3 * d + 2] * from[2] + offset[d];
    const near = from[d] + (brought - from[d]) * rigid;
    return near + (to[d] - near) * rest;
  });
}
