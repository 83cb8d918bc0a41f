// Where points came from: lines that fade.

import type { Camera } from "./camera";
import type { Spot } from "./geometry";
import { css, OUTLIER, type Rgb } from "./palette";
import type { Theme } from "./theme";
import type { PlacedEvent } from "./types";

const KEPT = 240;
const LIFE = { small: 6, large: 16 }; // seconds

interface Trail { from: Spot; to: Spot; birth: number; life: number; colour: Rgb | null }

export class Trails {
  private trails: Trail[] = [];

  clear(): void {
    this.trails = [];
  }

  /** Adds the trail of an event that moved a point. */
  add(event: PlacedEvent, colour: Rgb, now: number): void {
    if (!event.from || event.kind === "stayed") return;
    if (event.from.x === event.x && event.from.y === event.y && event.from.z === event.z) return;
    const small = event.kind === "moved";
    this.trails.push({
      from: event.from, to: event, birth: now, life: small ? LIFE.small : LIFE.large,
      colour: small ? null : event.verdict === "outlier" ? OUTLIER : colour,
    });
    if (this.trails.length > KEPT) this.trails.splice(0, this.trails.length - KEPT);
  }

  /** Draws those that are left; true while there are any. */
  draw(context: CanvasRenderingContext2D, camera: Camera, theme: Theme, now: number): boolean {
    this.trails = this.trails.filter(({ birth, life }) => now < birth + life);
    context.lineCap = "round";
    for (const trail of this.trails) one(context, camera, theme, trail, now);
    return this.trails.length > 0;
  }
}

function one(context: CanvasRenderingContext2D, camera: Camera, theme: Theme, trail: Trail, now: number): void {
  const { birth, life, colour } = trail;
  const from = camera.toScreen(trail.from.x, trail.from.y, trail.from.z);
  const end = camera.toScreen(trail.to.x, trail.to.y, trail.to.z);
  const [dx, dy] = [end.x - from.x, end.y - from.y];
  const length = Math.hypot(dx, dy);
  if (length < 3) return;
  const left = 1 - (now - birth) / life;
  // A slight bend keeps opposite ways apart.
  const bend = colour ? 0.14 : 0.05;
  const middle = { x: from.x + dx / 2 + dy * bend, y: from.y + dy / 2 - dx * bend };
  // The line ends before the point, which it must not cover.
  const last = Math.max(Math.hypot(end.x - middle.x, end.y - middle.y), 1);
  const gap = Math.min(colour ? 15 : 5, last) / last;
  const to = { x: end.x + (middle.x - end.x) * gap, y: end.y + (middle.y - end.y) * gap };
  const ink = colour ?? theme.ink;
  const path = () => {
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.quadraticCurveTo(middle.x, middle.y, to.x, to.y);
  };
  if (colour) {
    path();
    context.strokeStyle = css(theme.paper, 0.8 * left);
    context.lineWidth = 5;
    context.stroke();
  }
  path();
  context.strokeStyle = css(ink, (colour ? 0.95 : 0.6) * left ** 0.8);
  context.lineWidth = colour ? 2.4 : 1.3;
  context.stroke();
  context.beginPath();
  context.arc(from.x, from.y, colour ? 3 : 1.8, 0, 7);
  context.fillStyle = css(ink, 0.8 * left);
  context.fill();
  if (colour && length > 24) arrow(context, middle, to, css(ink, left));
}

function arrow(context: CanvasRenderingContext2D, from: { x: number; y: number }, to: { x: number; y: number }, style: string): void {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  context.save();
  context.translate(to.x + 6 * Math.cos(angle), to.y + 6 * Math.sin(angle));
  context.rotate(angle);
  context.beginPath();
  context.moveTo(1, 0);
  context.lineTo(-8, -5);
  context.lineTo(-8, 5);
  context.fillStyle = style;
  context.fill();
  context.restore();
}
