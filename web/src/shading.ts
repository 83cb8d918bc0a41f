// Regions of the map whose share changed between two stretches of time, shaded: what gained is filled, what lost is hatched too.

import type { Camera } from "./camera";
import type { Box, Place } from "./geometry";
import { css, type Rgb } from "./palette";
import type { Theme } from "./theme";
import type { Region } from "./types";

/** Pixels between the lines of the hatching. */
const HATCH = 8;
/** How opaque a shade is where the share hardly changed, and where it is eight times as large or as small. */
const FAINT = 0.14;
const STRONG = 0.32;

export interface Shade extends Box { alpha: number }
export type Line = readonly [from: Place, to: Place];
/** Boxes of one kind, and the lines around them that lie between no two of them. */
export interface Part { shades: readonly Shade[]; border: readonly Line[] }
export interface Shading { gained: Part; lost: Part }

/** What is shaded; null for maps in space, whose boxes hide each other. */
export function shadingOf(regions: readonly Region[]): Shading | null {
  if (regions.some(({ min }) => min.length > 2)) return null;
  const part = (change: Region["change"]): Part => {
    const shades = regions.filter((region) => region.change === change).map(shadeOf);
    return { shades, border: borderOf(shades) };
  };
  return { gained: part("gained"), lost: part("lost") };
}

function shadeOf({ min: [x0, y0], max: [x1, y1], share_a, share_b }: Region): Shade {
  const times = Math.abs(Math.log2(share_b / share_a)) / 3;
  return { x0, y0, x1, y1, alpha: FAINT + (STRONG - FAINT) * Math.min(times, 1) };
}

/** The lines around boxes, without those where two of them touch. */
export function borderOf(boxes: readonly Box[]): Line[] {
  return boxes.flatMap(({ x0, y0, x1, y1 }) => [
    ...bare(y0, y1, boxes.filter((box) => box.x1 === x0).map((box) => [box.y0, box.y1])).map(([from, to]): Line => [{ x: x0, y: from }, { x: x0, y: to }]),
    ...bare(y0, y1, boxes.filter((box) => box.x0 === x1).map((box) => [box.y0, box.y1])).map(([from, to]): Line => [{ x: x1, y: from }, { x: x1, y: to }]),
    ...bare(x0, x1, boxes.filter((box) => box.y1 === y0).map((box) => [box.x0, box.x1])).map(([from, to]): Line => [{ x: from, y: y0 }, { x: to, y: y0 }]),
    ...bare(x0, x1, boxes.filter((box) => box.y0 === y1).map((box) => [box.x0, box.x1])).map(([from, to]): Line => [{ x: from, y: y1 }, { x: to, y: y1 }]),
  ]);
}

/** What is left of a line when parts of it are taken away. */
function bare(from: number, to: number, taken: number[][]): [number, number][] {
  const left: [number, number][] = [];
  let at = from;
  for (const [start, end] of taken.sort((p, q) => p[0] - q[0])) {
    if (start > at) left.push([at, Math.min(start, to)]);
    at = Math.max(at, end);
    if (at >= to) break;
  }
  if (at < to) left.push([at, to]);
  return left;
}

export function drawShading(context: CanvasRenderingContext2D, camera: Camera, theme: Theme, { gained, lost }: Shading): void {
  drawPart(context, camera, theme.gained, gained, false);
  drawPart(context, camera, theme.lost, lost, true);
}

function drawPart(context: CanvasRenderingContext2D, camera: Camera, colour: Rgb, { shades, border }: Part, hatched: boolean): void {
  const whole = new Path2D();
  for (const { x0, y0, x1, y1, alpha } of shades) {
    // On whole pixels, so that no seam shows where two boxes touch.
    const [from, to] = [camera.toScreen(x0, y1), camera.toScreen(x1, y0)].map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) }));
    context.fillStyle = css(colour, alpha);
    context.fillRect(from.x, from.y, to.x - from.x, to.y - from.y);
    whole.rect(from.x, from.y, to.x - from.x, to.y - from.y);
  }
  context.strokeStyle = css(colour, 0.75);
  if (hatched && shades.length > 0) hatch(context, camera, whole);
  context.lineWidth = 1.6;
  context.beginPath();
  for (const [from, to] of border) {
    const [start, end] = [camera.toScreen(from.x, from.y), camera.toScreen(to.x, to.y)];
    context.moveTo(start.x, start.y);
    context.lineTo(end.x, end.y);
  }
  context.stroke();
}

/** Slanting lines within a shape, that move with the map. */
function hatch(context: CanvasRenderingContext2D, camera: Camera, shape: Path2D): void {
  const { width, height } = camera;
  const { x, y } = camera.toScreen(0, 0);
  context.save();
  context.clip(shape);
  context.lineWidth = 1;
  context.beginPath();
  for (let at = ((x + y) % HATCH) - HATCH; at < width + height; at += HATCH) {
    context.moveTo(at, 0);
    context.lineTo(at - height, height);
  }
  context.stroke();
  context.restore();
}
