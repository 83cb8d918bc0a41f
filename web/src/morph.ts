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

/** The same, asked the other way around: for each of `many` rows of the other version its row in this one. */
export function inverse(rows: Int32Array, many: number): Int32Array {
  const back = new Int32Array(many).fill(-1);
  rows.forEach((other, row) => {
    if (other >= 0) back[other] = row;
  });
  return back;
}

function numbers({ rows, ids }: Columns): Map<string, number> {
  const found = new Map<string, number>();
  for (let row = 0; row < rows; row++) found.set(ids.at(row), row);
  return found;
}

/** The similarity (scale, rotation, shift) that brings the rows of one version nearest to the same rows of another: least squares. In space without a rotation. */
export function similarity(from: Columns, to: Columns, fromOf: Int32Array): Similarity {
  const axes = (["x", "y", "z"] as const).flatMap((name) => {
    const [was, is] = [from[name], to[name]];
    return was && is ? [{ was, is, mean: 0, goal: 0 }] : [];
  });
  const common = fromOf.reduce((sum, row) => sum + (row < 0 ? 0 : 1), 0);
  if (common < 2) return { matrix: new Float32Array([1, 0, 0, 0, 1, 0, 0, 0, 1]), offset: [0, 0, 0] };
  for (const axis of axes) {
    for (let row = 0; row < to.rows; row++) {
      if (fromOf[row] < 0) continue;
      axis.mean += axis.was[fromOf[row]] / common;
      axis.goal += axis.is[row] / common;
    }
  }
  let [along, across, norm] = [0, 0, 0];
  const [ax, ay] = axes;
  for (let row = 0; row < to.rows; row++) {
    const old = fromOf[row];
    if (old < 0) continue;
    for (const { was, is, mean, goal } of axes) {
      along += (was[old] - mean) * (is[row] - goal);
      norm += (was[old] - mean) ** 2;
    }
    across += (ax.was[old] - ax.mean) * (ay.is[row] - ay.goal) - (ay.was[old] - ay.mean) * (ax.is[row] - ax.goal);
  }
  const [c, s] = norm === 0 ? [1, 0] : [along / norm, axes.length === 3 ? 0 : across / norm];
  const matrix = new Float32Array([c, -s, 0, s, c, 0, 0, 0, axes.length === 3 ? c : 1]);
  const mean = [0, 1, 2].map((d) => axes[d]?.mean ?? 0);
  const offset = [0, 1, 2].map((d) => (axes[d]?.goal ?? 0) - matrix[3 * d] * mean[0] - matrix[3 * d + 1] * mean[1] - matrix[3 * d + 2] * mean[2]);
  return { matrix, offset: offset as [number, number, number] };
}

/** How the rows of a map are drawn on their way: where each was in the other version, and which were not there. */
export interface Origin { x: Float32Array; y: Float32Array; z: Float32Array | null; fresh: Float32Array; similarity: Similarity }

/** A morph on its way. */
export interface Way { origin: Origin; stages: Stages }

/** `rows`: for each row drawn its row in the other version. */
export function origin(other: Columns, drawn: Columns, rows = match(drawn, other)): Origin {
  const part = (name: "x" | "y" | "z"): Float32Array | null => {
    const [was, is] = [other[name], drawn[name]];
    return was && is && is.map((value, row) => (rows[row] < 0 ? value : was[rows[row]]));
  };
  return {
    x: part("x") as Float32Array, y: part("y") as Float32Array, z: part("z"),
    fresh: new Float32Array(rows).map((row) => (row < 0 ? 1 : 0)), similarity: similarity(other, drawn, rows),
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
