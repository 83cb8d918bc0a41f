// Shapes on the plane.

export interface Place { x: number; y: number }
/** A place of the map: with z where the map is in space. */
export interface Spot extends Place { z?: number }

/** Whether a place lies inside a closed polygon (even-odd). */
export function inside(polygon: readonly Place[], x: number, y: number): boolean {
  let within = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [a, b] = [polygon[i], polygon[j]];
    if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) within = !within;
  }
  return within;
}

/** A rectangle on the screen. */
export interface Rect { x: number; y: number; width: number; height: number }

export const meets = (a: Rect, b: Rect): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

export interface Box { x0: number; y0: number; x1: number; y1: number }

/** The box of a map, from its bounds in the plane or in space. */
export function boxOfBounds(bounds: readonly number[]): Box {
  const half = bounds.length / 2;
  return { x0: bounds[0], y0: bounds[1], x1: bounds[half], y1: bounds[half + 1] };
}

export function boxOf(places: readonly Place[]): Box {
  const box = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
  for (const { x, y } of places) {
    box.x0 = Math.min(box.x0, x);
    box.y0 = Math.min(box.y0, y);
    box.x1 = Math.max(box.x1, x);
    box.y1 = Math.max(box.y1, y);
  }
  return box;
}

/** A test for many places against one polygon: most are ruled out by its box. */
export function insideOf(polygon: readonly Place[]): (x: number, y: number) => boolean {
  const { x0, y0, x1, y1 } = boxOf(polygon);
  return (x, y) => x >= x0 && x <= x1 && y >= y0 && y <= y1 && inside(polygon, x, y);
}

/** The corners of the smallest convex shape around the places, counter-clockwise. */
export function hull(places: readonly Place[]): Place[] {
  const sorted = [...places].sort((a, b) => a.x - b.x || a.y - b.y);
  if (sorted.length < 3) return sorted;
  const turn = (o: Place, a: Place, b: Place) => (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
  const half = (list: Place[]) => {
    const chain: Place[] = [];
    for (const place of list) {
      while (chain.length >= 2 && turn(chain[chain.length - 2], chain[chain.length - 1], place) <= 0) chain.pop();
      chain.push(place);
    }
    chain.pop();
    return chain;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

/** The places of a polygon that stand at least `apart` from each other: a lasso need not keep every twitch. */
export function thin(polygon: readonly Place[], apart: number): Place[] {
  const kept: Place[] = [];
  for (const place of polygon) {
    const before = kept[kept.length - 1];
    if (!before || Math.hypot(place.x - before.x, place.y - before.y) >= apart) kept.push(place);
  }
  return kept;
}
