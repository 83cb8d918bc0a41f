// The axis cross of a map in space: which way x, y and z point as it is turned now.

import type { Camera } from "./camera";
import type { Rect } from "./geometry";
import { css } from "./palette";
import type { Theme } from "./theme";

const LENGTH = 26;
/** Pixels from the lower left corner of the view to where the axes meet. */
const INSET = 46;

/** The part of the screen that the cross takes: none for a map in the plane. */
export function roomOfAxes({ turn, height }: Camera): Rect[] {
  return turn.space ? [{ x: 0, y: height - 2 * INSET, width: 2 * INSET, height: 2 * INSET }] : [];
}

export function drawAxes(context: CanvasRenderingContext2D, { turn, height }: Camera, theme: Theme, font: string): void {
  if (!turn.space) return;
  const [x, y] = [INSET, height - INSET];
  const axes = ["x", "y", "z"].map((name, d) => ({ name, dx: turn.axes[d], dy: -turn.axes[3 + d], near: turn.axes[6 + d] }));
  // Those that point away are drawn first, and paler.
  for (const { name, dx, dy, near } of axes.sort((a, b) => a.near - b.near)) {
    const colour = css(theme.ink, near < -0.2 ? 0.45 : 0.9);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + dx * LENGTH, y + dy * LENGTH);
    context.lineWidth = 2;
    context.lineCap = "round";
    context.strokeStyle = colour;
    context.stroke();
    context.font = `650 12px ${font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 3;
    context.strokeStyle = css(theme.paper, 0.9);
    context.strokeText(name, x + dx * (LENGTH + 9), y + dy * (LENGTH + 9));
    context.fillStyle = colour;
    context.fillText(name, x + dx * (LENGTH + 9), y + dy * (LENGTH + 9));
  }
}
