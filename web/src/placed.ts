// Placed rows as Python sends them: one column of bytes for each thing known of them.

import type { Point } from "./state";
import type { Verdict } from "./types";

export interface PlacedColumns {
  x: DataView; y: DataView; z: DataView | null; score: DataView;
  /** Codes of the verdicts, one byte each. */
  verdict: DataView;
  /** The outlier group, as floats: negative where there is none. */
  group: DataView; nearest: DataView;
  ids: string[]; labels: string[] | null;
}

const VERDICTS: Verdict[] = ["exact", "interpolated", "beside-outlier", "outlier"];

/** Each placed row, and the row of the map that it is nearest to. Its cluster is not known here. */
export function* placedPoints(columns: PlacedColumns, floats: (view: ArrayBufferView) => Float32Array): Generator<{ point: Point; nearest: number }> {
  const [x, y, score, group, nearest] = [columns.x, columns.y, columns.score, columns.group, columns.nearest].map(floats);
  const z = columns.z && floats(columns.z);
  for (let k = 0; k < columns.ids.length; k++) {
    const point: Point = {
      id: columns.ids[k], x: x[k], y: y[k], ...(z && { z: z[k] }), score: score[k], verdict: VERDICTS[columns.verdict.getUint8(k)],
      group: group[k] < 0 ? null : group[k], label: columns.labels?.[k] ?? null, cluster: null, t: 0,
    };
    yield { point, nearest: nearest[k] };
  }
}
