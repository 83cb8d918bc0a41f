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
  // Null where WebGL is missing or does not take the shaders.
  static on(canvas) {
    const gl = canvas.getContext("webgl", { antialias: false, alpha: true, powerPreference: "high-performance" });
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

// Stamps each point from a small picture of its colour.
class CanvasPainter {
  constructor(canvas) {
    // A canvas that WebGL has had cannot be drawn on otherwise; then it takes a new one.
    this.context = canvas.getContext("2d") ?? canvas.cloneNode().getContext("2d");
    canvas.replaceWith(this.context.canvas);
    this.stamps = new Map();
  }

  recolour() {}

  paint(camera, ratio, paper) {
    const { context } = this;
    const { radius, opacity } = dotStyle(camera);
    const size = Math.max(2 * radius * ratio, 1.5);
    if (this.size !== size || String(this.paper) !== String(paper)) this.stamps.clear();
    this.size = size;
    this.paper = paper;
    context.clearRect(0, 0, context.canvas.width, context.canvas.height);
    context.globalAlpha = DIMS === 3 ? 1 : opacity;
    for (const i of DIMS === 3 ? this.farthestFirst(camera) : order) {
      if (!isShown(i)) continue;
      const [x, y, near] = camera.place(i);
      if (x < -9 || y < -9 || x > camera.width + 9 || y > camera.height + 9) continue;
      const stamp = this.stamp(colourOf(i), DIMS === 3 ? near : 1);
      context.drawImage(stamp, x * ratio - stamp.width / 2, y * ratio - stamp.height / 2);
    }
  }

  farthestFirst(camera) {
    const near = Float32Array.from({ length: N }, (_, i) => camera.place(i)[2]);
    return order.slice().sort((a, b) => near[a] - near[b]);
  }

  // In eight steps of depth and, for a scale, in as many colours as 4 bits per channel can tell.
  stamp(colour, near) {
    const fade = Math.round(4 * (1 - near)) / 8;
    const rgb = data.scale ? colour.map((c) => Math.min((c >> 4) * 17, 255)) : colour;
    const key = rgb[0] * 65536 + rgb[1] * 256 + rgb[2] + fade / 2;
    let stamp = this.stamps.get(key);
    if (!stamp) {
      stamp = document.createElement("canvas");
      stamp.width = stamp.height = Math.ceil(this.size) + 2;
      const context = stamp.getContext("2d");
      const mixed = rgb.map((c, k) => c + (this.paper[k] - c) * 0.56 * fade);
      context.fillStyle = `rgb(${mixed.map(Math.round)})`;
      context.beginPath();
      context.arc(stamp.width / 2, stamp.width / 2, this.size / 2, 0, 2 * Math.PI);
      context.fill();
      this.stamps.set(key, stamp);
    }
    return stamp;
  }
}
