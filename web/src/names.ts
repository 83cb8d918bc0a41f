// Where the name of a cluster goes: at the middle of its cluster and within the view, or nowhere.

import { meets, type Rect } from "./geometry";

const EDGE = 4;

/** Room for a name that would like to be at `home`, inside of a view and beside what is taken; undefined where there is none. It gives way by its height or a third of its width: farther away it would seem to belong to other points. */
export function roomForName(home: Rect, view: { width: number; height: number }, taken: readonly Rect[]): Rect | undefined {
  const { width, height } = home;
  if (width + 2 * EDGE > view.width) return undefined;
  return [[0, 0], [0, -height], [0, height], [-width / 3, 0], [width / 3, 0]]
    .map(([dx, dy]) => ({ ...home, x: Math.max(Math.min(home.x + dx, view.width - width - EDGE), EDGE), y: home.y + dy }))
    .find((rect) => rect.y >= 0 && rect.y + height <= view.height && !taken.some((other) => meets(other, rect)));
}
