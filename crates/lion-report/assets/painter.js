// How the points are painted: with WebGL, or with plain canvas drawing where there is none.

// The radius in pixels and the opacity of a point at this zoom: both grow a little as one comes nearer.
function dotStyle(camera) {
  const room = Math.min(Math.max(Math.min(camera.width, camera.height) / 760, 0.75), 1.5);
  const radius = Math.min(data.radius * room * camera.zoom ** 0.35, Math.max(7, data.radius));
  const near = Math.min(Math.max(Math.log2(camera.zoom) / 5, 0), 1);
  return { radius, opacity: data.opacity + (0.9 - data.opacity) * near };
}

const VERTEX = `
attribute vec3 point;
attribute vec4 colour;
uniform mat3 rows;
uniform vec2 centre, scale;
uniform float reach;
uniform mediump float size, solid; // said twice, once per shader, so in one precision
uniform vec3 paper;
varying vec3 shade;
void main() {
  vec3 seen = rows * point;
  float depth = clamp(-seen.z / reach, -1.0, 1.0);
  // A hidden point goes where nothing is drawn.
  gl_Position = colour.a == 0.0 ? vec4(2.0, 2.0, 2.0, 1.0) : vec4((seen.xy - centre) * scale, 0.9 * depth, 1.0);
  gl_PointSize = size;
  shade = mix(colour.rgb, paper, solid * 0.28 * (depth + 1.0));
}`;

const FRAGMENT = `
precision mediump float;
uniform mediump float size, solid, opacity;
varying vec3 shade;
void main() {
  float radius = 0.5 * size;
  float distance = size * length(gl_PointCoord - 0.5);
  float cover = clamp(radius - distance, 0.0, 1.0);
  // In space a point is solid, and a little darker at its rim, so that those in front stand out.
  if (solid > 0.5 && cover < 0.5) discard;
  float alpha = solid > 0.5 ? 1.0 : opacity * cover;
  vec3 rgb = shade * (1.0 - solid * 0.3 * smoothstep(0.5, 1.0, distance / radius));
  gl_FragColor = vec4(rgb * alpha, alpha);
}`;

class GlPainter {
  // Null where WebGL is missing, does not take the shaders, or has no graphics card behind it: then plain drawing is
  // faster.
  static on(canvas) {
    const gl = canvas.getContext("webgl", { antialias: false, failIfMajorPerformanceCaveat: true });
    const painter = gl && new GlPainter(gl);
    return painter?.works ? painter : null;
  }

  constructor(gl) {
    this.gl = gl;
    this.start();
  }

  // Also after the context was lost and restored.
  start() {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    this.works = gl.getProgramParameter(program, gl.LINK_STATUS);
    if (!this.works) return;
    gl.useProgram(program);
    this.at = (name) => gl.getUniformLocation(program, name);
    this.uniforms = new Map();
    const sorted = new Float32Array(N * DIMS);
    for (let k = 0; k < N; k++) {
      for (let d = 0; d < DIMS; d++) sorted[k * DIMS + d] = points[order[k] * DIMS + d];
    }
    this.attribute(program, "point", DIMS, gl.FLOAT, false);
    gl.bufferData(gl.ARRAY_BUFFER, sorted, gl.STATIC_DRAW);
    this.colours = this.attribute(program, "colour", 4, gl.UNSIGNED_BYTE, true);
    this.recolour();
  }

  attribute(program, name, size, type, normalised) {
    const { gl } = this;
    const buffer = gl.createBuffer();
    const at = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, type, normalised, 0, 0);
    return buffer;
  }

  // The colour of every point, with an alpha of 0 for those hidden.
  recolour() {
    const { gl } = this;
    const rgba = new Uint8Array(N * 4);
    for (let k = 0; k < N; k++) {
      const i = order[k];
      const colour = colourOf(i);
      rgba[4 * k] = colour[0];
      rgba[4 * k + 1] = colour[1];
      rgba[4 * k + 2] = colour[2];
      rgba[4 * k + 3] = isShown(i) ? 255 : 0;
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.colours);
    gl.bufferData(gl.ARRAY_BUFFER, rgba, gl.DYNAMIC_DRAW);
  }

  uniform(name) {
    if (!this.uniforms.has(name)) this.uniforms.set(name, this.at(name));
    return this.uniforms.get(name);
  }

  paint(camera, ratio, paper) {
    const { gl } = this;
    const { radius, opacity } = dotStyle(camera);
    // Less than about two pixels across cannot be round; it is drawn fainter instead of smaller.
    const size = Math.max(2 * radius * ratio + 1, 2.2);
    const faint = Math.min(1, Math.max(0.3, ((2 * radius * ratio + 1) / size) ** 2));
    const r = camera.rows;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (DIMS === 3) {
      gl.enable(gl.DEPTH_TEST);
    } else {
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    }
    // WebGL wants columns.
    gl.uniformMatrix3fv(this.uniform("rows"), false, [r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]]);
    gl.uniform2f(this.uniform("centre"), camera.x, camera.y);
    gl.uniform2f(this.uniform("scale"), (2 * camera.scale) / camera.width, (2 * camera.scale) / camera.height);
    gl.uniform1f(this.uniform("size"), size);
    gl.uniform1f(this.uniform("reach"), camera.half[0]);
    gl.uniform1f(this.uniform("solid"), DIMS === 3 ? 1 : 0);
    gl.uniform1f(this.uniform("opacity"), opacity * faint);
    gl.uniform3f(this.uniform("paper"), ...paper.map((c) => c / 255));
    gl.drawArrays(gl.POINTS, 0, N);
  }
}

// Without WebGL: blends every point into an image, pixel by pixel, which is many times faster than 60000 calls to draw.
class CanvasPainter {
  constructor(canvas) {
    // A canvas that WebGL has had cannot be drawn on otherwise; then it takes a new one.
    this.context = canvas.getContext("2d") ?? canvas.cloneNode().getContext("2d");
    canvas.replaceWith(this.context.canvas);
  }

  recolour() {}

  paint(camera, ratio, paper) {
    const { width, height } = this.context.canvas;
    const { radius, opacity } = dotStyle(camera);
    const image = this.context.createImageData(width, height);
    const [r, g, b] = paper;
    new Uint32Array(image.data.buffer).fill(((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
    const reach = Math.max(radius * ratio, 0.75) + 0.5;
    const colour = [0, 0, 0];
    for (const i of DIMS === 3 ? this.farthestFirst(camera) : order) {
      if (!isShown(i)) continue;
      const [x, y, near] = camera.place(i);
      // In space a point is solid, and fades towards the paper the farther it is.
      const fade = DIMS === 3 ? 0.28 * (1 - near) : 0;
      const own = colourOf(i);
      for (let c = 0; c < 3; c++) colour[c] = own[c] + (paper[c] - own[c]) * fade;
      blendDot(image, x * ratio - 0.5, y * ratio - 0.5, reach, colour, DIMS === 3 ? 1 : opacity);
    }
    this.context.putImageData(image, 0, 0);
  }

  farthestFirst(camera) {
    const near = Float32Array.from({ length: N }, (_, i) => camera.place(i)[2]);
    return order.slice().sort((a, b) => near[a] - near[b]);
  }
}

// A soft-edged disc around (x, y), which reaches so many pixels.
function blendDot({ data: rgba, width, height }, x, y, reach, colour, opacity) {
  const [left, right] = [Math.max(Math.ceil(x - reach), 0), Math.min(Math.floor(x + reach), width - 1)];
  const bottom = Math.min(Math.floor(y + reach), height - 1);
  for (let row = Math.max(Math.ceil(y - reach), 0); row <= bottom; row++) {
    for (let column = left; column <= right; column++) {
      const distance = Math.sqrt((column - x) ** 2 + (row - y) ** 2);
      const alpha = opacity * Math.min(Math.max(reach - distance, 0), 1);
      const at = 4 * (row * width + column);
      for (let c = 0; c < 3; c++) rgba[at + c] += (colour[c] - rgba[at + c]) * alpha;
    }
  }
}
