// Where the words about forming clusters go: inside the view, over nothing that matters, and as little as can be over the rest.

import type { Camera } from "./camera";
import { meets, type Place, type Rect } from "./geometry";

export interface Callout { id: string; tone: "forming" | "born"; rect: Rect; at: Place; reach: number; title: string; text: string; away: boolean }
/** What a callout is about: where it is on the screen and how far it reaches around that. */
export interface Subject { id: string; tone: Callout["tone"]; at: Place; reach: number; title: string; text: string; width: number }

const HEIGHT = 46;
const EDGE = 8;
const WAYS = 16;
/** Pixels between a group's outline and its callout. */
const GAPS = [16, 44, 90, 150];
/** Where all is crowded around a group, places all over the view are tried too: so many across and down. */
const LATTICE = { across: 9, down: 9 };
/** What it costs to cover an outlier, a group or another callout; to draw the line through one; to lie over a name or a point; and each pixel of distance. */
const COST = { cover: 5000, cross: 1500, name: 60, dot: 3, pixel: 0.25 };

interface Way { rect: Rect; cost: number }

/** Places for a callout within the view: around what it is about, and then all over. */
function* ways({ x, y }: Place, reach: number, width: number, camera: Camera): Generator<Way> {
  const inside = (left: number, top: number): Rect =>
    ({ x: clamp(left, EDGE, camera.width - width - EDGE), y: clamp(top, EDGE, camera.height - HEIGHT - EDGE), width, height: HEIGHT });
  let rank = 0;
  for (const gap of GAPS) {
    for (let k = 0; k < WAYS; k++) {
      // First to the upper right, then around.
      const angle = (2 * Math.PI * k) / WAYS - Math.PI / 4;
      const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
      const far = reach + gap + (Math.abs(dx) * width) / 2 + (Math.abs(dy) * HEIGHT) / 2;
      const [left, top] = [x + dx * far - width / 2, y + dy * far - HEIGHT / 2];
      const rect = inside(left, top);
      yield { rect, cost: 2 * rank++ + 3 * (Math.abs(rect.x - left) + Math.abs(rect.y - top)) };
    }
  }
  for (let k = 0; k < LATTICE.across * LATTICE.down; k++) {
    const rect = inside(((k % LATTICE.across) / (LATTICE.across - 1)) * camera.width, (Math.floor(k / LATTICE.across) / (LATTICE.down - 1)) * camera.height);
    const end = nearest(rect, { x, y });
    yield { rect, cost: 2 * rank + COST.pixel * Math.hypot(end.x - x, end.y - y) };
  }
}

/** `hard` must not be covered, nor crossed by a line: groups, single outliers, tools. `names` had better not be covered, and of `dots` as few as can be. One that finds no room is left out. */
export function placeCallouts(subjects: readonly Subject[], camera: Camera, hard: readonly Rect[], names: readonly Rect[], dots: readonly Place[]): Callout[] {
  const placed: Callout[] = [];
  for (const { id, tone, at: place, reach, title, text, width } of subjects) {
    const at = { x: clamp(place.x, 14, camera.width - 14), y: clamp(place.y, 14, camera.height - 14) };
    const away = place.x !== at.x || place.y !== at.y;
    const seen = hard.filter((rect) => meets(rect, { x: 0, y: 0, width: camera.width, height: camera.height }));
    const own = { x: at.x - 1, y: at.y - 1, width: 2, height: 2 };
    const taken = [...seen, ...placed.map(({ rect }) => grown(rect, 6))];
    const between = taken.filter((rect) => !meets(rect, own));
    let [best, least]: [Rect | null, number] = [null, Infinity];
    for (const { rect, cost: way } of ways(at, away ? 6 : reach, width, camera)) {
      let cost = way + COST.cover * taken.filter((other) => meets(other, rect)).length;
      if (cost >= least) continue;
      cost += COST.cross * between.filter((other) => crosses(at, nearest(rect, at), other)).length + COST.name * names.filter((name) => meets(name, rect)).length;
      if (cost >= least) continue;
      for (const { x, y } of dots) if (x > rect.x && y > rect.y && x < rect.x + width && y < rect.y + HEIGHT) cost += COST.dot;
      if (cost < least) [best, least] = [rect, cost];
    }
    if (best && !placed.some(({ rect }) => meets(rect, best))) placed.push({ id, tone, rect: best, at, reach: away ? 0 : reach, title, text, away });
  }
  return placed;
}

/** The place of a rectangle that is nearest to another: there its line ends. */
export const nearest = (rect: Rect, { x, y }: Place): Place => ({ x: clamp(x, rect.x, rect.x + rect.width), y: clamp(y, rect.y, rect.y + rect.height) });

/** Whether the line between two places leads through a rectangle (Liang and Barsky, 1984). */
export function crosses(a: Place, b: Place, { x, y, width, height }: Rect): boolean {
  let [from, to] = [0, 1];
  for (const [start, way, low, high] of [[a.x, b.x - a.x, x, x + width], [a.y, b.y - a.y, y, y + height]]) {
    if (way === 0) {
      if (start < low || start > high) return false;
      continue;
    }
    const [enter, leave] = [(low - start) / way, (high - start) / way];
    from = Math.max(from, Math.min(enter, leave));
    to = Math.min(to, Math.max(enter, leave));
  }
  return from <= to;
}

const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(value, high));

const grown = ({ x, y, width, height }: Rect, by: number): Rect => ({ x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by });
