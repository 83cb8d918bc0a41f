// Members of an outlier group lie so close together that they would be drawn as one dot. On the screen they are spread
// around the first of them like the seeds of a sunflower, as far as there is room.

import type { Camera } from "./camera";
import type { Place } from "./geometry";
import type { Point, State } from "./state";

const GOLDEN = Math.PI * (3 - Math.sqrt(5));
/** Between seeds, in radii of a dot: as far as lets each be seen, and no less than keeps them from being one. */
export const APART = { most: 1.3, least: 0.65 };
/** Groups beyond this are too many to be told apart; those that come later are not spread. */
const MANY = 5000;

/** Radius of a calm live point in pixels, when there are so many. */
export function dotRadius(camera: Camera, count: number): number {
  const room = Math.min(Math.max(Math.min(camera.width, camera.height) / 640, 0.8), 1.35);
  const crowd = Math.min(1, 4000 / Math.max(count, 1)) ** 0.18;
  return Math.min(3.9 * room * crowd * Math.max(camera.zoom, 1) ** 0.22, 9);
}

/** Where a member goes: a direction times the root of its rank; in the map's units the room for each, and the way from its place to the group's. */
export interface Seed { x: number; y: number; room: number; dx: number; dy: number; dz: number }

export const NO_SEED: Seed = { x: 0, y: 0, room: 0, dx: 0, dy: 0, dz: 0 };

/** The k-th seed of a sunflower whose seeds are about two apart. */
export function seed(k: number): Place {
  const far = Math.sqrt(k + 0.5);
  return { x: far * Math.cos(k * GOLDEN), y: far * Math.sin(k * GOLDEN) };
}

/** How far apart the seeds are on the screen, in pixels. */
export function gapOf(room: number, scale: number, radius: number): number {
  return Math.min(Math.max(room * scale, APART.least * radius), APART.most * radius);
}

/** How much smaller the dots of a crowded group are. */
export const shrink = (gap: number, radius: number): number => Math.min(Math.max(gap / (1.15 * radius), 0.55), 1);

export class Spread {
  private readonly seeds = new Map<string, Seed>();
  private readonly dirty = new Set<number>();
  private readonly rooms = new Map<number, number>();
  private known = "";

  constructor(private readonly state: State, private readonly plane: (point: Point) => Place, private readonly nearestRow: (place: Place) => number) {}

  of(id: string): Seed {
    return this.seeds.get(id) ?? NO_SEED;
  }

  /** A group gained or lost a member. */
  touch(group: number | null | undefined): void {
    if (group !== null && group !== undefined) this.dirty.add(group);
  }

  left(id: string): void {
    this.seeds.delete(id);
  }

  /** All points are drawn anew. */
  clear(): void {
    this.seeds.clear();
    this.touchAll();
  }

  touchAll(): void {
    this.known = "";
    for (const group of this.state.groups.keys()) this.dirty.add(group);
  }

  /** Where a point is drawn. */
  screen(point: Point, camera: Camera): Place {
    const own = this.of(point.id);
    const at = camera.toScreen(point.x + own.dx, point.y + own.dy, (point.z ?? 0) + own.dz);
    if (own.room === 0) return at;
    const gap = gapOf(own.room, camera.scale, dotRadius(camera, this.state.points.size));
    return { x: at.x + own.x * gap, y: at.y + own.y * gap };
  }

  /** Pixels from the middle of a group to its outermost member. */
  reach(group: number, camera: Camera): number {
    const size = this.state.groups.get(group)?.size ?? 1;
    if (size < 2) return 0;
    return Math.sqrt(size) * gapOf(this.roomOfEach(group, size), camera.scale, dotRadius(camera, this.state.points.size));
  }

  /** How near one must be for the members to have all the room they want, in pixels per unit of the map. */
  scaleFor(group: number, camera: Camera): number {
    const size = this.state.groups.get(group)?.size ?? 1;
    return (APART.most * dotRadius(camera, this.state.points.size)) / Math.max(this.roomOfEach(group, size), 1e-9);
  }

  private roomOfEach(group: number, size: number): number {
    return (this.rooms.get(group) ?? 0) / Math.sqrt(size);
  }

  /** Once a frame: gives seeds to the members that have new ones, and tells of each. */
  settle(tell: (id: string, own: Seed) => void): void {
    const { state, dirty } = this;
    if (dirty.size === 0) return;
    const known = [...state.groups].map(([group, { size }]) => `${group} ${size < 2 ? 1 : Math.floor(Math.log2(size) * 2)}`).join();
    if (known !== this.known) {
      this.known = known;
      this.measure();
    }
    for (const group of dirty) {
      const members = state.groups.get(group);
      let k = 0;
      if (!members) continue;
      const [first] = members;
      const middle = state.points.get(first) as Point;
      const room = this.roomOfEach(group, members.size);
      for (const id of members) {
        const point = state.points.get(id) as Point;
        const own = members.size < 2 ? NO_SEED : { ...seed(k++), room, dx: middle.x - point.x, dy: middle.y - point.y, dz: (middle.z ?? 0) - (point.z ?? 0) };
        const before = this.of(id);
        if ((["x", "y", "room", "dx", "dy", "dz"] as const).every((part) => before[part] === own[part])) continue;
        this.seeds.set(id, own);
        tell(id, own);
      }
    }
    dirty.clear();
  }

  // The room of each group: to the nearest row of the map, and its share of the way to the nearest other group.
  private measure(): void {
    const { state } = this;
    const groups: { group: number; x: number; y: number; weight: number }[] = [];
    for (const [group, members] of state.groups) {
      const [first] = members;
      const point = state.points.get(first);
      if (point) groups.push({ group, ...this.plane(point), weight: Math.sqrt(members.size) });
      if (groups.length >= MANY) break;
    }
    groups.sort((a, b) => a.x - b.x);
    groups.forEach((own, k) => {
      if (own.weight === 1) return;
      let room = 0.9 * this.nearestRow(own);
      for (const step of [-1, 1]) {
        for (let j = k + step; j >= 0 && j < groups.length && Math.abs(groups[j].x - own.x) < room; j += step) {
          const apart = Math.hypot(groups[j].x - own.x, groups[j].y - own.y);
          room = Math.min(room, (0.8 * apart * own.weight) / (own.weight + groups[j].weight));
        }
      }
      if (this.rooms.get(own.group) === room) return;
      this.rooms.set(own.group, room);
      this.dirty.add(own.group);
    });
  }
}
