// Where the name of a cluster goes: at the middle of its cluster and within the view, or nowhere.

import { meets, type Rect } from "./geometry";

/** Pixels that a name may give way to another: hardly more than its own height, or it would seem to belong to other points. */
const ASIDE = [0, -20, 20];
const EDGE = 4;

/** Room for a name that would like to be at `home`, inside of a view and beside what is taken; undefined where there is none. */
export function roomForName(home: Rect, view: { width: number; height: number }, taken: readonly Rect[]): Rect | undefined {
  const x = Math.max(Math.min(home.x, view.width - home.width - EDGE), EDGE);
  if (x + home.width > view.width) return undefined;
  return ASIDE.map((aside) => ({ ...home, x, y: home.y + aside }))
    .find((rect) => rect.y >= 0 && rect.y + rect.height <= view.height && !taken.some((other) => meets(other, rect)));
}
