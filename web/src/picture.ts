// The pictures of image data: bytes in base64, drawn pixel by pixel.

import { make } from "./dom";
import type { Image } from "./types";

export function picture(base64: string, { width, height, channels }: Image, className = ""): HTMLCanvasElement {
  const canvas = make("canvas", className);
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const image = context.createImageData(width, height);
  paint(image.data, Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)), channels);
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Grey, grey with alpha, RGB or RGBA, as the number of channels says. */
export function paint(rgba: Uint8ClampedArray, bytes: Uint8Array, channels: number): void {
  for (let pixel = 0; pixel * 4 < rgba.length; pixel++) {
    const at = pixel * channels;
    const grey = channels < 3;
    rgba[4 * pixel] = bytes[at];
    rgba[4 * pixel + 1] = bytes[grey ? at : at + 1];
    rgba[4 * pixel + 2] = bytes[grey ? at : at + 2];
    rgba[4 * pixel + 3] = channels === 4 ? bytes[at + 3] : channels === 2 ? bytes[at + 1] : 255;
  }
}
