// How the map is seen: where a place falls on the screen, and the way from one view to another.

import type { Box, Place, Spot } from "./geometry";
import { calm } from "./theme";
import { FRONT, Turn } from "./turn";

interface View { x: number; y: number; scale: number; yaw: number; pitch: number }

const FLIGHT = 0.7; // seconds
const ZOOM = { least: 0.3, most: 3000 };
/** Room for names, rings and callouts around what must be seen. */
const MARGIN = { x: 44, y: 40 };

const ease = (share: number): number => 1 - (1 - share) ** 3;

export class Camera {
  width = 1;
  height = 1;
  readonly turn = new Turn();
  /** The middle of the view, in the map's units on the plane that is looked at. */
  x = 0;
  y = 0;
  /** Pixels per unit of the map. */
  scale = 1;
  /** While nobody moved it, the camera keeps everything in view. */
  auto = true;
  /** What the whole view must hold. */
  box: Box = { x0: -1, y0: -1, x1: 1, y1: 1 };
  private flight: { from: View; to: View; start: number } | null = null;

  resize(width: number, height: number): void {
    const middle = { x: this.x, y: this.y };
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
    if (this.auto) this.set(this.whole());
    else Object.assign(this, middle);
  }

  /** Says what the whole view must hold. Returns whether that is new. */
  hold(box: Box): boolean {
    const same = (["x0", "y0", "x1", "y1"] as const).every((side) => this.box[side] === box[side]);
    this.box = { ...box };
    return !same;
  }

  /** The view of everything. */
  private whole(): View {
    const { x0, y0, x1, y1 } = this.box;
    const fit = (room: number, extent: number) => Math.max(room, 40) / Math.max(extent, 1e-9);
    const scale = Math.min(fit(this.width - 2 * MARGIN.x, x1 - x0), fit(this.height - 2 * MARGIN.y, y1 - y0));
    return { x: (x0 + x1) / 2, y: (y0 + y1) / 2, scale, ...(this.turn.space ? FRONT : { yaw: 0, pitch: 0 }) };
  }

  get zoom(): number {
    return this.scale / this.whole().scale;
  }

  toScreen(x: number, y: number, z?: number): Place {
    return this.planeToScreen(this.turn.plane(x, y, z));
  }

  planeToScreen({ x, y }: Place): Place {
    return { x: this.width / 2 + (x - this.x) * this.scale, y: this.height / 2 - (y - this.y) * this.scale };
  }

  /** What is at (x, y) on the screen, on the plane that is looked at: for a map in the plane, its own coordinates. */
  toPlane(x: number, y: number): Place {
    return { x: this.x + (x - this.width / 2) / this.scale, y: this.y - (y - this.height / 2) / this.scale };
  }

  pan(dx: number, dy: number): void {
    this.auto = false;
    this.flight = null;
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
  }

  /** Turns the map by so many pixels of dragging: across the whole view is half a turn. */
  orbit(dx: number, dy: number): void {
    this.flight = null;
    const way = Math.PI / Math.max(Math.min(this.width, this.height), 1);
    this.turn.set(this.turn.yaw + dx * way, this.turn.pitch + dy * way);
  }

  /** Zooms so that what is at (x, y) on the screen stays there. */
  zoomAt(factor: number, x = this.width / 2, y = this.height / 2): void {
    const before = this.toPlane(x, y);
    this.auto = false;
    this.flight = null;
    this.scale = this.within(this.scale * factor);
    const after = this.toPlane(x, y);
    this.x += before.x - after.x;
    this.y += before.y - after.y;
  }

  private within(scale: number): number {
    const whole = this.whole().scale;
    return Math.min(Math.max(scale, whole * ZOOM.least), whole * ZOOM.most);
  }

  /** Flies to a place, near enough to see what is around it. */
  visit({ x, y, z }: Spot, now: number, zoom = 3.2): void {
    this.auto = false;
    const { yaw, pitch } = this.turn;
    this.fly({ ...this.turn.plane(x, y, z), scale: Math.max(this.scale, this.within(this.whole().scale * zoom)), yaw, pitch }, now);
  }

  /** Flies back to everything. */
  reset(now: number): void {
    this.auto = true;
    this.fly(this.whole(), now);
  }

  private fly(to: View, now: number): void {
    if (calm()) this.set(to);
    else this.flight = { from: { x: this.x, y: this.y, scale: this.scale, yaw: this.turn.yaw, pitch: this.turn.pitch }, to, start: now };
  }

  private set({ x, y, scale, yaw, pitch }: View): void {
    this.flight = null;
    Object.assign(this, { x, y, scale });
    this.turn.set(yaw, pitch);
  }

  /** Moves along the flight; true while it lasts. */
  advance(now: number): boolean {
    if (!this.flight) return false;
    const { from, to, start } = this.flight;
    const share = ease(Math.min(Math.max((now - start) / FLIGHT, 0), 1));
    const scale = Math.exp(Math.log(from.scale) + (Math.log(to.scale) - Math.log(from.scale)) * share);
    // The middle moves as the zoom does, so that the target drifts straight into view.
    const way = from.scale === to.scale ? share : (1 / from.scale - 1 / scale) / (1 / from.scale - 1 / to.scale);
    this.x = from.x + (to.x - from.x) * way;
    this.y = from.y + (to.y - from.y) * way;
    this.scale = scale;
    this.turn.set(from.yaw + (to.yaw - from.yaw) * share, from.pitch + (to.pitch - from.pitch) * share);
    if (share >= 1) this.set(to);
    return true;
  }
}
