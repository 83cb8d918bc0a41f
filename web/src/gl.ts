// The little of WebGL that both layers of points share.

import type { Camera } from "./camera";
import type { Way } from "./morph";

/** Null where there is no WebGL 2. `keeps`: what was drawn stays until it is cleared, so that a picture may be finished over several frames. */
export function context(canvas: HTMLCanvasElement, keeps = false): WebGL2RenderingContext | null {
  return canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true, preserveDrawingBuffer: keeps });
}

export function program(gl: WebGL2RenderingContext, vertex: string, fragment: string): WebGLProgram {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
    const shader = gl.createShader(kind) as WebGLShader;
    gl.shaderSource(shader, `#version 300 es\nprecision highp float;\nprecision highp int;\n${source}`);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`The map's shaders were refused: ${gl.getProgramInfoLog(made) ?? "no reason given"}`);
  }
  return made;
}

/** Uniforms by name, looked up once. */
export function uniforms(gl: WebGL2RenderingContext, of: WebGLProgram): (name: string) => WebGLUniformLocation | null {
  const known = new Map<string, WebGLUniformLocation | null>();
  return (name) => {
    if (!known.has(name)) known.set(name, gl.getUniformLocation(of, name));
    return known.get(name) ?? null;
  };
}

export function clear(gl: WebGL2RenderingContext): void {
  gl.clearColor(0, 0, 0, 0);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
}

/** For vertex shaders: where a place falls on the screen, and how near it is, from 1 (behind) to -1. */
export const SEEN = `
uniform vec2 centre, scale;
uniform mat3 turn;
uniform vec3 middle;
uniform float deep;
uniform mat3 likeness;
uniform vec3 offset;
uniform float rigid, rest;
// On the way from another version of the map, see morph.ts.
vec3 between(vec3 was, vec3 is) {
  return mix(mix(was, likeness * was + offset, rigid), is, rest);
}
vec3 seen(vec3 place) {
  vec3 at = turn * (place - middle);
  return vec3((at.xy + middle.xy - centre) * scale, -at.z * deep);
}`;

/** Sets what every layer needs: blending, and where a place falls. */
export function begin(gl: WebGL2RenderingContext, camera: Camera, at: (name: string) => WebGLUniformLocation | null): void {
  gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.uniform2f(at("centre"), camera.x, camera.y);
  const { space, axes, middle, reach } = camera.turn;
  gl.uniformMatrix3fv(at("turn"), true, axes);
  gl.uniform3f(at("middle"), middle[0], middle[1], middle[2]);
  gl.uniform1f(at("deep"), space ? 0.5 / reach : 0);
  gl.uniform2f(at("scale"), (2 * camera.scale) / camera.width, (2 * camera.scale) / camera.height);
}

/** Sets how far a morph is: null when there is none. */
export function onTheWay(gl: WebGL2RenderingContext, way: Way | null, at: (name: string) => WebGLUniformLocation | null): void {
  gl.uniform1f(at("morphing"), way ? 1 : 0);
  if (!way) return;
  const { similarity: { matrix, offset } } = way.origin;
  gl.uniformMatrix3fv(at("likeness"), true, matrix);
  gl.uniform3f(at("offset"), ...offset);
  gl.uniform1f(at("rigid"), way.stages.rigid);
  gl.uniform1f(at("rest"), way.stages.rest);
  gl.uniform1f(at("grown"), way.stages.grown);
}

export const resizeCanvas = (canvas: HTMLCanvasElement, width: number, height: number, ratio: number): void => {
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
};

/** Starts, and starts again when a lost context is back: everything that was on the graphics card is gone then. */
export function startAgain(gl: WebGL2RenderingContext, start: () => void, restored: () => void): void {
  const { canvas } = gl;
  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => {
    start();
    restored();
  });
  start();
}
