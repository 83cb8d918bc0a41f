// The map as a picture that leaves the page: a title, what the colours mean, and what was going on.

import { css, type Rgb } from "./palette";
import type { Theme } from "./theme";

/** A line of the legend. */
export interface Entry { name: string; colour: Rgb; count: string; diamond: boolean }

const FONT = "Inter, system-ui, sans-serif";
const HEAD = 62;
const SIDE = 170;
const LINE = 22;

/** Puts the layers together; `ratio` is how many of their pixels are one of the page. */
export function compose(layers: readonly HTMLCanvasElement[], ratio: number, theme: Theme, title: string, caption: string, legend: readonly Entry[]): HTMLCanvasElement {
  const [width, height] = [layers[0].width / ratio, layers[0].height / ratio];
  const canvas = document.createElement("canvas");
  canvas.width = Math.round((width + SIDE) * ratio);
  canvas.height = Math.round((height + HEAD) * ratio);
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.scale(ratio, ratio);
  context.fillStyle = css(theme.paper);
  context.fillRect(0, 0, width + SIDE, height + HEAD);
  for (const layer of layers) context.drawImage(layer, SIDE, HEAD, width, height);
  context.fillStyle = css(theme.ink);
  context.font = `650 18px ${FONT}`;
  context.fillText(title, 20, 28, width + SIDE - 40);
  context.fillStyle = css(theme.faint);
  context.font = `500 13px ${FONT}`;
  context.fillText(caption, 20, 49, width + SIDE - 40);
  context.textBaseline = "middle";
  legend.slice(0, Math.floor((height - 20) / LINE)).forEach((entry, k) => line(context, theme, entry, HEAD + 22 + k * LINE));
  return canvas;
}

function line(context: CanvasRenderingContext2D, theme: Theme, { name, colour, count, diamond }: Entry, y: number): void {
  context.fillStyle = css(colour);
  context.beginPath();
  if (diamond) for (const [dx, dy] of [[0, -6], [6, 0], [0, 6], [-6, 0]]) context.lineTo(26 + dx, y + dy);
  else context.arc(26, y, 5.5, 0, 7);
  context.fill();
  context.fillStyle = css(theme.ink);
  context.textAlign = "left";
  context.fillText(name, 40, y, SIDE - 90);
  context.fillStyle = css(theme.faint);
  context.textAlign = "right";
  context.fillText(count, SIDE - 10, y, 50);
}
