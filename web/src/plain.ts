// Without WebGL 2 (a remote desktop, hardware acceleration switched off): the same two layers, drawn by the processor.

import { AGEING, LANDING, type Arrivals } from "./arrivals";
import { calmed, radiusOf, type Base, type ClusterLook } from "./base";
import type { Camera } from "./camera";
import { NO_CLUSTER, type Columns } from "./columns";
import type { Place, Spot } from "./geometry";
import { between, type Way } from "./morph";
import { css, mix, type Rgb } from "./palette";
import { dotRadius, gapOf, NO_SEED, shrink, type Seed } from "./spread";
import type { Point } from "./state";
import type { Theme } from "./theme";

/** Points that are drawn while the view moves. */
const MOVING = 60_000;

const flat = (canvas: HTMLCanvasElement): CanvasRenderingContext2D => canvas.getContext("2d") as CanvasRenderingContext2D;

/** Blends every point into an image, pixel by pixel, which is many times faster than as many calls to draw. */
export class PlainBase implements Base {
  private readonly context: CanvasRenderingContext2D;
  private colours: { colour: Rgb; alpha: number }[] = [];
  private way: Way | null = null;

  constructor(private readonly canvas: HTMLCanvasElement, private map: Columns) {
    this.context = flat(canvas);
  }

  change(map: Columns): void {
    this.map = map;
  }

  morph(way: Way | null): void {
    this.way = way;
  }

  /** Where a row is on its way, on the screen. */
  private at(row: number, camera: Camera): Place {
    const { x, y, z } = this.map;
    const { way } = this;
    if (!way || way.origin.fresh[row]) return camera.toScreen(x[row], y[row], z?.[row]);
    const { origin } = way;
    const [px, py, pz] = between([origin.x[row], origin.y[row], origin.z?.[row] ?? 0], [x[row], y[row], z?.[row] ?? 0], origin.similarity, way.stages);
    return camera.toScreen(px, py, pz);
  }

  colour(looks: readonly ClusterLook[], theme: Theme): void {
    this.colours = looks.map((look) => ({ colour: calmed(look.colour, theme, this.map.rows), alpha: look.shown ? 0.8 * look.strength : 0 }));
  }

  radius(camera: Camera): number {
    return radiusOf(camera, this.map.rows);
  }

  draw(camera: Camera, ratio: number, moving: boolean): void {
    const { width, height } = this.canvas;
    const { cluster, rows } = this.map;
    const image = this.context.createImageData(width, height);
    const step = moving ? Math.max(1, Math.ceil(rows / MOVING)) : 1;
    const side = Math.max(1, Math.round(1.8 * this.radius(camera) * ratio));
    for (let row = 0; row < rows; row += step) {
      const { colour, alpha: strength } = this.colours[cluster[row] === NO_CLUSTER ? 0 : cluster[row] + 1];
      const alpha = strength * (this.way?.origin.fresh[row] ? this.way.stages.grown : 1);
      if (alpha === 0) continue;
      const at = this.at(row, camera);
      const left = Math.round(at.x * ratio - side / 2);
      const top = Math.round(at.y * ratio - side / 2);
      if (left + side > 0 && top + side > 0 && left < width && top < height) blend(image, left, top, side, colour, alpha);
    }
    this.context.putImageData(image, 0, 0);
  }

  refine(): boolean {
    return false;
  }

  learn(): void {}

  finish(): void {}
}

/** A square with its corners cut, over what is there. */
function blend({ data, width, height }: ImageData, left: number, top: number, side: number, colour: Rgb, alpha: number): void {
  for (let y = Math.max(top, 0); y < Math.min(top + side, height); y++) {
    for (let x = Math.max(left, 0); x < Math.min(left + side, width); x++) {
      const corner = side > 2 && (x === left || x === left + side - 1) && (y === top || y === top + side - 1);
      if (corner) continue;
      const at = 4 * (y * width + x);
      const below = (data[at + 3] / 255) * (1 - alpha);
      const sum = alpha + below;
      for (let c = 0; c < 3; c++) data[at + c] = (colour[c] * alpha + data[at + c] * below) / sum;
      data[at + 3] = 255 * sum;
    }
  }
}

interface Dot { point: Point; look: Rgb | null; ringed: boolean; birth: number; from: Spot; seed: Seed }

export class PlainArrivals implements Arrivals {
  private readonly context: CanvasRenderingContext2D;
  private readonly dots = new Map<string, Dot>();
  private way: Way | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = flat(canvas);
  }

  clear(): void {
    this.dots.clear();
  }

  morph(way: Way | null): void {
    this.way = way;
  }

  /** Where a dot is when it has gone a share of its way, on the screen; without its place among others. */
  private at({ from, point, seed }: Dot, way: number, camera: Camera): Place {
    const aside = [seed.dx, seed.dy, seed.dz];
    const [start, end] = [from, point].map(({ x, y, z }) => [x, y, z ?? 0]);
    const here = this.way ? between(start, end, this.way.origin.similarity, this.way.stages) : start.map((value, d) => value + (end[d] - value) * way);
    const [x, y, z] = here.map((value, d) => value + aside[d] * way);
    return camera.toScreen(x, y, z);
  }

  put(point: Point, look: Rgb | null, ringed: boolean, birth: number, from: Spot = point): void {
    this.dots.set(point.id, { point, look, ringed, birth, from, seed: this.dots.get(point.id)?.seed ?? NO_SEED });
  }

  recolour(point: Point, look: Rgb | null, ringed: boolean): void {
    const dot = this.dots.get(point.id);
    if (dot) Object.assign(dot, { point, look, ringed });
  }

  seed(id: string, seed: Seed): void {
    const dot = this.dots.get(id);
    if (dot) dot.seed = seed;
  }

  remove(id: string): void {
    this.dots.delete(id);
  }

  draw(camera: Camera, ratio: number, now: number, theme: Theme, warning: Rgb, motion: boolean): void {
    const { context, canvas } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const radius = dotRadius(camera, this.dots.size);
    for (const dot of this.dots.values()) {
      const { point, look, ringed, birth, seed } = dot;
      if (!look) continue;
      const age = Math.max(now - birth, 0);
      const way = motion ? Math.min(age / 0.9, 1) : 1;
      const at = this.at(dot, way, camera);
      const gap = gapOf(seed.room, camera.scale, radius);
      at.x += seed.x * gap * way;
      at.y += seed.y * gap * way;
      if (at.x < -30 || at.y < -30 || at.x > camera.width + 30 || at.y > camera.height + 30) continue;
      const young = age > AGEING ? 0 : Math.exp(-age / 9);
      const outlying = point.verdict === "outlier";
      const reach = radius * (0.88 + (seed.room > 0 ? 0.25 : 0.6) * young) * (seed.room > 0 ? shrink(gap, radius) : 1);
      if (motion && age < LANDING) this.ring(at, radius * (1 + (4.5 * age) / LANDING), css(outlying ? warning : look, 0.8 * (1 - age / LANDING)), 2);
      if (outlying && ringed) this.ring(at, reach * 2.1 + 1, css(warning, 0.5 + 0.5 * young), 1.7);
      this.dot(at, reach, css(look), outlying ? css(mix(warning, theme.ink, 0.25)) : css(theme.dark ? [8, 10, 13] : theme.ink, 0.55 + 0.45 * young), outlying);
    }
  }

  private ring({ x, y }: { x: number; y: number }, radius: number, style: string, width: number): void {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 7);
    this.context.lineWidth = width;
    this.context.strokeStyle = style;
    this.context.stroke();
  }

  private dot({ x, y }: { x: number; y: number }, reach: number, fill: string, edge: string, diamond: boolean): void {
    const { context } = this;
    context.beginPath();
    if (diamond) {
      const half = reach * 1.26;
      context.moveTo(x, y - half);
      context.lineTo(x + half, y);
      context.lineTo(x, y + half);
      context.lineTo(x - half, y);
      context.closePath();
    } else context.arc(x, y, reach - 0.5, 0, 7);
    context.fillStyle = fill;
    context.fill();
    context.lineWidth = 1.1;
    context.strokeStyle = edge;
    context.stroke();
  }
}
