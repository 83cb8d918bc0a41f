// Regions of the map whose share changed between two stretches of time, shaded: what gained is filled, what lost is hatched too.

import type { Camera } from "./camera";
import { meets, type Box, type Place, type Rect } from "./geometry";
import { css, type Rgb } from "./palette";
import type { Theme } from "./theme";
import type { Region } from "./types";

/** Pixels between the lines of the hatching. */
const HATCH = 8;
/** How opaque a shade is where the share hardly changed, and where it is eight times as large or as small. */
const FAINT = 0.14;
const STRONG = 0.32;

/** Pixels that words move at most so as not to cover a shade. */
const FAR = 100;

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

/** Where words go that would cover shades: just above them, unless that is far. */
export function beside(rect: Rect, camera: Camera, { gained, lost }: Shading): Rect {
  const covered = [...gained.shades, ...lost.shades].map((shade) => onScreen(shade, camera)).filter((shade) => meets(rect, shade));
  const top = Math.min(rect.y + rect.height, ...covered.map(({ y }) => y)) - rect.height - 3;
  return covered.length > 0 && rect.y - top < FAR && top > 0 ? { ...rect, y: top } : rect;
}

/** On whole pixels, so that no seam shows where two boxes touch. */
function onScreen({ x0, y0, x1, y1 }: Box, camera: Camera): Rect {
  const [from, to] = [camera.toScreen(x0, y1), camera.toScreen(x1, y0)].map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) }));
  return { x: from.x, y: from.y, width: to.x - from.x, height: to.y - from.y };
}

function drawPart(context: CanvasRenderingContext2D, camera: Camera, colour: Rgb, { shades, border }: Part, hatched: boolean): void {
  const whole = new Path2D();
  for (const shade of shades) {
    const { x, y, width, height } = onScreen(shade, camera);
    context.fillStyle = css(colour, shade.alpha);
    context.fillRect(x, y, width, height);
    whole.rect(x, y, width, height);
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
