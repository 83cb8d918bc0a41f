// Where the words about forming clusters go: inside the view, over nothing that matters, and as little as can be over the rest.

import type { Camera } from "./camera";
import { meets, type Place, type Rect } from "./geometry";

export interface Callout { rect: Rect; at: Place; reach: number; title: string; text: string; away: boolean }
/** What a callout is about: where it is on the screen and how far it reaches around that. */
export interface Subject { at: Place; reach: number; title: string; text: string; width: number }

const HEIGHT = 46;
const EDGE = 8;
const WAYS = 16;
/** Pixels between a group's outline and its callout. */
const GAPS = [16, 44, 90, 150];

function* ways({ x, y }: Place, reach: number, width: number): Generator<Rect> {
  for (const gap of GAPS) {
    for (let k = 0; k < WAYS; k++) {
      // First to the upper right, then around.
      const angle = (2 * Math.PI * k) / WAYS - Math.PI / 4;
      const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
      const far = reach + gap + (Math.abs(dx) * width) / 2 + (Math.abs(dy) * HEIGHT) / 2;
      yield { x: x + dx * far - width / 2, y: y + dy * far - HEIGHT / 2, width, height: HEIGHT };
    }
  }
}

/** `hard` must not be covered, `names` had better not be, and of `dots` as few as can be. One that finds no room is left out. */
export function placeCallouts(subjects: readonly Subject[], camera: Camera, hard: readonly Rect[], names: readonly Rect[], dots: readonly Place[]): Callout[] {
  const placed: Callout[] = [];
  for (const { at: place, reach, title, text, width } of subjects) {
    const at = { x: clamp(place.x, 14, camera.width - 14), y: clamp(place.y, 14, camera.height - 14) };
    const away = place.x !== at.x || place.y !== at.y;
    const taken = [...hard, ...placed.map(({ rect }) => grown(rect, 6))];
    let [best, least]: [Rect | null, number] = [null, Infinity];
    let rank = 0;
    for (const way of ways(at, away ? 6 : reach, width)) {
      const inside = { ...way, x: clamp(way.x, EDGE, camera.width - width - EDGE), y: clamp(way.y, EDGE, camera.height - HEIGHT - EDGE) };
      let cost = 2 * rank++ + 3 * (Math.abs(inside.x - way.x) + Math.abs(inside.y - way.y));
      cost += 5000 * taken.filter((other) => meets(other, inside)).length + 60 * names.filter((name) => meets(name, inside)).length;
      if (cost >= least) continue;
      for (const { x, y } of dots) if (x > inside.x && y > inside.y && x < inside.x + width && y < inside.y + HEIGHT) cost += 3;
      if (cost < least) [best, least] = [inside, cost];
    }
    if (best && !placed.some(({ rect }) => meets(rect, best))) placed.push({ rect: best, at, reach: away ? 0 : reach, title, text, away });
  }
  return placed;
}

const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(value, high));

export const grown = ({ x, y, width, height }: Rect, by: number): Rect => ({ x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by });
