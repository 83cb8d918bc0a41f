// How the points are painted: with WebGL, or with plain canvas drawing where there is none.

// How the points of a layer look at this zoom: radius and rim in pixels, and the opacity; all grow a little as one
// comes nearer, placed points to a little more than those of the map.
function dotStyle(camera, layer) {
  const room = Math.min(Math.max(Math.min(camera.width, camera.height) / 760, 0.75), 1.5);
  const most = (layer.rim > 0 ? 8.5 : 7) * layer.size;
  const radius = Math.min(layer.radius * room * camera.zoom ** 0.35, Math.max(most, layer.radius));
  const near = Math.min(Math.max(Math.log2(camera.zoom) / 5, 0), 1);
  const opacity = layer.opacity + Math.max(0.9 - layer.opacity, 0) * near;
  // The line around a disc grows faster than the disc: what was too small to have one gets one.
  const growth = (radius / layer.radius) ** (layer.diamond ? 1 : 2);
  return { radius, rim: Math.min(layer.rim * growth, 1.8), opacity };
}

// How far the points of a layer fade towards the paper with depth; placed ones less.
const fadeOf = (layer) => (layer.rim > 0 ? 0.17 : 0.28);

// The colour around placed points: the ink around discs, the paper around diamonds.
const edgeOf = (layer, theme) => (layer.diamond ? theme.paper : theme.ink);

const VERTEX = `
attribute vec3 point;
attribute vec4 colour;
uniform mat3 rows;
uniform vec2 centre, scale;
uniform float depth;
uniform mediump float size, solid; // said twice, once per shader, so in one precision
uniform float fade;
uniform vec3 paper;
varying vec3 shade;
varying mediump float strength;
void main() {
  vec3 seen = rows * point;
  float away = clamp(-seen.z / depth, -1.0, 1.0);
  // A hidden point goes where nothing is drawn.
  gl_Position = colour.a < 0.01 ? vec4(2.0, 2.0, 2.0, 1.0) : vec4((seen.xy - centre) * scale, 0.9 * away, 1.0);
  gl_PointSize = size;
  // In space points are solid, so a faint one takes the colour of the paper instead.
  shade = mix(colour.rgb, paper, solid * max(fade * (away + 1.0), 1.0 - colour.a));
  strength = colour.a;
}`;

const FRAGMENT = `
precision mediump float;
uniform mediump float size, solid;
uniform float opacity, reach, rim, diamond, shadow;
uniform vec3 edge;
varying vec3 shade;
varying mediump float strength;
void main() {
  vec2 at = size * (gl_PointCoord - 0.5);
  float distance = diamond > 0.5 ? dot(abs(at), vec2(0.70711)) : length(at);
  float cover = clamp(reach - distance, 0.0, 1.0);
  // In space a point is solid, and a little darker at its rim, so that those in front stand out.
  if (solid > 0.5 && cover < 0.5) discard;
  float alpha = solid > 0.5 ? 1.0 : opacity * cover * strength;
  vec3 rgb = rim > 0.0
    ? mix(edge, shade, clamp(reach - rim - distance, 0.0, 1.0) / max(cover, 0.001))
    : shade * (1.0 - solid * shadow * smoothstep(0.5, 1.0, distance / reach));
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
    this.places = this.attribute(program, "point", DIMS, gl.FLOAT, false);
    this.move();
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

  // The place of every point, also after points moved.
  move() {
    const { gl } = this;
    this.sorted ??= new Float32Array(N * DIMS);
    for (let k = 0; k < N; k++) {
      for (let d = 0; d < DIMS; d++) this.sorted[k * DIMS + d] = points[order[k] * DIMS + d];
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.places);
    gl.bufferData(gl.ARRAY_BUFFER, this.sorted, gl.DYNAMIC_DRAW);
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
      rgba[4 * k + 3] = isShown(i) ? 255 * alpha[i] : 0;
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.colours);
    gl.bufferData(gl.ARRAY_BUFFER, rgba, gl.DYNAMIC_DRAW);
  }

  uniform(name) {
    if (!this.uniforms.has(name)) this.uniforms.set(name, this.at(name));
    return this.uniforms.get(name);
  }

  paint(camera, ratio, theme) {
    const { gl } = this;
    const r = camera.rows;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
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
    gl.uniform1f(this.uniform("depth"), camera.half[0]);
    gl.uniform1f(this.uniform("solid"), DIMS === 3 ? 1 : 0);
    gl.uniform3f(this.uniform("paper"), ...theme.paper.map((c) => c / 255));
    for (const layer of layers) this.paintLayer(layer, dotStyle(camera, layer), ratio, edgeOf(layer, theme));
  }

  paintLayer(layer, { radius, rim, opacity }, ratio, edge) {
    const { gl } = this;
    const across = (2 * radius + rim) * ratio + 1;
    // Less than about two pixels across cannot be round; it is drawn fainter instead of smaller.
    const size = Math.max(across, 2.2);
    const faint = Math.min(1, Math.max(0.3, (across / size) ** 2));
    // Placed points are seen through the map, however deep they lie in it.
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.uniform1f(this.uniform("size"), layer.diamond ? size * Math.SQRT2 : size);
    gl.uniform1f(this.uniform("diamond"), layer.diamond ? 1 : 0);
    gl.uniform1f(this.uniform("reach"), size / 2);
    gl.uniform1f(this.uniform("rim"), rim * ratio);
    gl.uniform1f(this.uniform("fade"), fadeOf(layer));
    // Darker only by a little where the map is pale, lest its points seem ringed themselves.
    gl.uniform1f(this.uniform("shadow"), data.placed ? 0.1 : 0.3);
    gl.uniform1f(this.uniform("opacity"), opacity * faint);
    gl.uniform3f(this.uniform("edge"), ...edge.map((c) => c / 255));
    gl.drawArrays(gl.POINTS, layer.start, layer.end - layer.start);
  }
}

// Without WebGL: blends every point into an image, pixel by pixel, which is many times faster than 60000 calls to draw.
class CanvasPainter {
  constructor(canvas) {
    // A canvas that WebGL has had cannot be drawn on otherwise; then it takes a new one.
    this.context = canvas.getContext("2d") ?? canvas.cloneNode().getContext("2d");
    canvas.replaceWith(this.context.canvas);
  }

  move() {}

  recolour() {}

  paint(camera, ratio, theme) {
    const { width, height } = this.context.canvas;
    const image = this.context.createImageData(width, height);
    const [r, g, b] = theme.paper;
    new Uint32Array(image.data.buffer).fill(((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
    for (const layer of layers) {
      const members = order.subarray(layer.start, layer.end);
      this.paintLayer(image, layer, DIMS === 3 ? farthestFirst(camera, members) : members, camera, ratio, theme);
    }
    this.context.putImageData(image, 0, 0);
  }

  paintLayer(image, layer, members, camera, ratio, theme) {
    const { radius, rim, opacity } = dotStyle(camera, layer);
    const colour = [0, 0, 0];
    const brush = {
      reach: Math.max((radius + rim / 2) * ratio, 0.75) + 0.5,
      rim: rim * ratio,
      diamond: layer.diamond,
      colour,
      edge: edgeOf(layer, theme),
      opacity: DIMS === 3 ? 1 : opacity,
    };
    for (const i of members) {
      if (!isShown(i) || alpha[i] < 0.01) continue;
      const [x, y, near] = camera.place(i);
      // In space a point is solid, and fades towards the paper the farther it is.
      const fade = DIMS === 3 ? Math.max(fadeOf(layer) * (1 - near), 1 - alpha[i]) : 0;
      brush.opacity = DIMS === 3 ? 1 : opacity * alpha[i];
      const own = colourOf(i);
      for (let c = 0; c < 3; c++) colour[c] = own[c] + (theme.paper[c] - own[c]) * fade;
      blendDot(image, x * ratio - 0.5, y * ratio - 0.5, brush);
    }
  }
}

function farthestFirst(camera, members) {
  const near = new Float32Array(N);
  for (const i of members) near[i] = camera.place(i)[2];
  return members.slice().sort((a, b) => near[a] - near[b]);
}

// A soft-edged disc or diamond around (x, y): its colour, and the edge's from where its rim begins.
function blendDot({ data: rgba, width, height }, x, y, { reach, rim, diamond, colour, edge, opacity }) {
  const span = diamond ? reach * Math.SQRT2 : reach;
  const [left, right] = [Math.max(Math.ceil(x - span), 0), Math.min(Math.floor(x + span), width - 1)];
  const bottom = Math.min(Math.floor(y + span), height - 1);
  for (let row = Math.max(Math.ceil(y - span), 0); row <= bottom; row++) {
    for (let column = left; column <= right; column++) {
      const dx = Math.abs(column - x);
      const dy = Math.abs(row - y);
      const distance = diamond ? (dx + dy) * Math.SQRT1_2 : Math.sqrt(dx * dx + dy * dy);
      if (distance >= reach) continue;
      // Of what is covered, so much has the point's own colour, the rest that of its edge.
      const cover = Math.min(reach - distance, 1);
      const own = rim > 0 ? Math.min(Math.max(reach - rim - distance, 0), 1) / cover : 1;
      const alpha = opacity * cover;
      const at = 4 * (row * width + column);
      for (let c = 0; c < 3; c++) {
        const ink = own === 1 ? colour[c] : edge[c] + (colour[c] - edge[c]) * own;
        rgba[at + c] += (ink - rgba[at + c]) * alpha;
      }
    }
  }
}
