// How a map in space is looked at: turned about its middle, without perspective. A map in the plane is never turned.

import type { Place } from "./geometry";

/** Where a view of a map in space begins: from the front, a little to the side and from above, so that its depth is seen. */
export const FRONT = { yaw: -0.5, pitch: 0.35 };
const STEEPEST = Math.PI / 2;

export class Turn {
  /** Whether the map has three dimensions. */
  space = false;
  yaw = 0;
  pitch = 0;
  middle = [0, 0, 0];
  /** How far the map reaches from its middle. */
  reach = 1;
  /** Right, up and towards the viewer as directions of the map: the lines of a rotation. */
  readonly axes = new Float32Array([1, 0, 0, 0, 1, 0, 0, 0, 1]);

  /** The middle of a map and how far it reaches around it, from its bounds: x0, y0, z0, x1, y1, z1. */
  hold(bounds: readonly number[]): void {
    this.space = bounds.length === 6;
    if (!this.space) return;
    this.middle = [0, 1, 2].map((d) => (bounds[d] + bounds[d + 3]) / 2);
    this.reach = Math.max(Math.hypot(...[0, 1, 2].map((d) => bounds[d + 3] - bounds[d])) / 2, 1e-9);
  }

  set(yaw: number, pitch: number): void {
    if (!this.space) return;
    this.yaw = yaw;
    this.pitch = Math.min(Math.max(pitch, -STEEPEST), STEEPEST);
    const [c, s, d, t] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    this.axes.set([c, 0, s, s * t, d, -c * t, -s * d, t, c * d]);
  }

  /** Where a place falls on the plane of the view, in the map's units. */
  plane(x: number, y: number, z = 0): Place {
    if (!this.space) return { x, y };
    const [a, [mx, my, mz]] = [this.axes, this.middle];
    const [px, py, pz] = [x - mx, y - my, z - mz];
    return { x: mx + a[0] * px + a[1] * py + a[2] * pz, y: my + a[3] * px + a[4] * py + a[5] * pz };
  }

  /** How near a place is to the viewer: from -1, behind, to 1, before all others; 0 in the plane. */
  depth(x: number, y: number, z = 0): number {
    if (!this.space) return 0;
    const [a, [mx, my, mz]] = [this.axes, this.middle];
    return (a[6] * (x - mx) + a[7] * (y - my) + a[8] * (z - mz)) / this.reach;
  }
}
