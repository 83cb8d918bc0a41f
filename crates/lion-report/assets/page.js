// How the page answers: pointer, wheel, keys, search. Draws only when something changed.

const $ = (id) => document.getElementById(id);
const css = (colour) => `rgb(${colour})`;
const [stage, over, tip] = [$("stage"), $("over"), $("tip")];
const pen = over.getContext("2d");
const camera = new Camera();
const painter = GlPainter.on($("dots")) ?? new CanvasPainter($("dots"));
const dots = $("dots"); // after the painter, which may have changed it for another
let ratio = 1;
let theme = {};
let pointed = -1; // the point under the pointer
let found = []; // the points that the search found
let visited = 0; // the one of them shown now
let frame = 0;
let stale = true; // whether the points must be painted again, and not only what lies over them

function draw() {
  stale = true;
  drawSoon();
}

function drawSoon() {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    if (stale) painter.paint(camera, ratio, theme);
    stale = false;
    drawOver();
  });
}

// How far a point reaches on the screen: the radius of a disc, or the corner of a diamond.
function reachOf(i) {
  const layer = layers[layerOf(i)];
  return dotStyle(camera, layer).radius * (layer.diamond ? Math.SQRT2 : 1);
}

// Names, and rings around what was found or is pointed at.
function drawOver() {
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, camera.width, camera.height);
  drawScaleBreak();
  extras.drawUnder?.();
  drawGroupSizes(drawNames());
  const ring = (i, more, colour, width) => {
    const [x, y] = camera.place(i);
    pen.beginPath();
    pen.arc(x, y, reachOf(i) + more, 0, 2 * Math.PI);
    pen.lineWidth = width;
    pen.strokeStyle = css(colour);
    pen.stroke();
  };
  for (const i of found.slice(0, 500)) ring(i, 3.5, theme.ink, 1.5);
  for (const i of [found[visited], pointed]) {
    if (i === undefined || i < 0) continue;
    ring(i, 5, theme.paper, 5);
    ring(i, 5, theme.ink, 2);
  }
}

// A dashed line around the map, where what lies beyond is drawn nearer than it is.
function drawScaleBreak() {
  const { corners } = data.scaleBreak ?? {};
  if (!corners) return;
  const [[left, bottom], [right, top]] = corners.map(([x, y]) => camera.flat(x, y));
  pen.beginPath();
  pen.roundRect(left - 7, top - 7, right - left + 14, bottom - top + 14, 6);
  pen.setLineDash([4, 4]);
  pen.lineWidth = 1;
  pen.strokeStyle = css(mixed(theme.ink, theme.paper, 0.65));
  pen.stroke();
  pen.setLineDash([]);
}

// Says where they stand.
function drawNames() {
  pen.font = "600 14px Inter, system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.lineWidth = 4;
  pen.strokeStyle = css(theme.paper);
  pen.fillStyle = css(theme.ink);
  if (data.clusters) return drawClusterNames();
  const taken = [];
  (data.classes ?? []).forEach((entry, c) => {
    if (entry.anchor === null || hidden.has(c)) return;
    const name = entry.name.length > 24 ? `${entry.name.slice(0, 23)}…` : entry.name;
    const [left, top] = extras.nameAt ? extras.nameAt(c) : camera.place(entry.anchor);
    if (!(left >= 0) || left > camera.width) return;
    const half = pen.measureText(name).width / 2;
    const x = Math.max(Math.min(left, camera.width - half - 4), half + 4);
    // The name of a handful stands above it, so as not to hide it.
    const y = entry.few ? top - reachOf(entry.anchor) - 10 : top;
    if (taken.some((t) => Math.abs(t.x - x) < t.half + half && Math.abs(t.y - y) < 15)) return;
    taken.push({ x, y, half });
    pen.strokeText(name, x, y);
    pen.fillText(name, x, y);
  });
  return taken;
}

// How many outliers a group has, beside it, where there is room.
function drawGroupSizes(taken) {
  pen.font = "600 13px Inter, system-ui, sans-serif";
  pen.fillStyle = css(mixed(colours.outlier, theme.ink, 0.3));
  for (const members of crowds) {
    if (!isShown(members[0])) return;
    const reach = reachOf(members[0]);
    const box = members.reduce(({ x0, x1, y0, y1 }, i) => {
      const [x, y] = camera.place(i);
      return { x0: Math.min(x0, x), x1: Math.max(x1, x), y0: Math.min(y0, y), y1: Math.max(y1, y) };
    }, { x0: Infinity, x1: -Infinity, y0: Infinity, y1: -Infinity });
    const text = `×${members.length.toLocaleString("en")}`;
    const half = pen.measureText(text).width / 2;
    const [right, left] = [box.x1 + reach + 2 + half, box.x0 - reach - 2 - half];
    const [upper, lower] = [box.y0 - reach, box.y1 + reach];
    const free = [[right, upper], [right, lower], [left, upper], [left, lower]].find(([x, y]) =>
      x - half > 0 && x + half < camera.width && y > 8 && y < camera.height - 8 &&
      !taken.some((t) => Math.abs(t.x - x) < t.half + half && Math.abs(t.y - y) < 14));
    if (!free) continue;
    const [x, y] = free;
    taken.push({ x, y, half });
    pen.strokeText(text, x, y);
    pen.fillText(text, x, y);
  }
}

function point(i) {
  pointed = i;
  over.classList.toggle("pointing", i >= 0);
  showTip(i >= 0 ? i : (found[visited] ?? -1));
  drawSoon();
}

function showTip(i) {
  tip.hidden = i < 0;
  if (i < 0) return;
  const label = labelOf(i);
  tip.querySelector("b").textContent = idOf(i);
  const line = tip.querySelector("span");
  line.hidden = label === "";
  const dot = element("i");
  dot.className = layers[layerOf(i)].diamond ? "diamond" : "";
  dot.style.background = css(colourOf(i));
  line.replaceChildren(dot, label);
  tip.querySelector("small").textContent = storyOf(i);
  extras.tip?.(i);
  placeTip(i);
}

// Beside the point, and inside the stage.
function placeTip(i) {
  const [x, y] = camera.place(i);
  const gap = Math.max(14, reachOf(i) + 9); // beyond the ring
  const left = x + gap + tip.offsetWidth > camera.width ? x - gap - tip.offsetWidth : x + gap;
  const top = Math.min(Math.max(y - tip.offsetHeight / 2, 4), camera.height - tip.offsetHeight - 4);
  tip.style.transform = `translate(${Math.max(left, 4)}px, ${top}px)`;
}

// After every move of the camera.
function moved() {
  point(-1);
  draw();
}

function reset() {
  camera.reset();
  moved();
}

// One pointer drags, two pinch.
const held = new Map();
let [pressedAt, travelled] = [null, false]; // where the pointer went down, and whether it moved since: then it was no click
const STILL = 4; // pixels that a hand may move while it clicks
const inStage = (event) => {
  const box = over.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
};

over.addEventListener("pointerdown", (event) => {
  over.setPointerCapture(event.pointerId);
  held.set(event.pointerId, (pressedAt = inStage(event)));
  travelled = false;
  if (extras.drag?.start(event, inStage(event))) held.clear();
  else over.classList.add("dragging");
});

over.addEventListener("pointermove", (event) => {
  const [now, before] = [inStage(event), held.get(event.pointerId)];
  if (extras.drag?.move(now)) return;
  if (!before) return point(camera.pick(now.x, now.y, 14));
  const [dx, dy] = [now.x - before.x, now.y - before.y];
  if (dx === 0 && dy === 0) return;
  travelled ||= Math.hypot(now.x - pressedAt.x, now.y - pressedAt.y) > STILL;
  const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
  if (other) {
    const [was, is] = [before, now].map((p) => Math.hypot(p.x - other.x, p.y - other.y));
    camera.pan(dx / 2, dy / 2);
    camera.zoomAt(is / Math.max(was, 1), (now.x + other.x) / 2, (now.y + other.y) / 2);
  } else if (DIMS === 3 && !event.shiftKey) {
    camera.turn(camera.yaw + dx * 0.008, camera.pitch + dy * 0.008);
  } else {
    camera.pan(dx, dy);
  }
  held.set(event.pointerId, now);
  moved();
});

for (const kind of ["pointerup", "pointercancel"]) {
  over.addEventListener(kind, (event) => {
    if (extras.drag?.end(kind === "pointerup")) return;
    held.delete(event.pointerId);
    if (held.size === 0) over.classList.remove("dragging");
    const { x, y } = inStage(event);
    if (kind !== "pointerup") return;
    // What is written over the points is pressed before them.
    if (!travelled && extras.press?.(x, y)) return point(-1);
    const i = camera.pick(x, y, event.pointerType === "mouse" ? 14 : 24);
    point(i);
    if (!travelled) extras.click?.(i);
  });
}
over.addEventListener("pointerleave", () => held.size === 0 && point(-1));
over.addEventListener("dblclick", reset);
over.addEventListener("wheel", (event) => {
  event.preventDefault();
  const { x, y } = inStage(event);
  const lines = event.deltaMode === 1 ? 16 : 1;
  // A pinch on a touchpad arrives as a wheel with ctrl, in smaller steps.
  camera.zoomAt(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), x, y);
  moved();
}, { passive: false });

const KEYS = {
  0: reset,
  "+": () => camera.zoomAt(1.3),
  "=": () => camera.zoomAt(1.3),
  "-": () => camera.zoomAt(1 / 1.3),
  ArrowLeft: (shift) => step(1, 0, shift),
  ArrowRight: (shift) => step(-1, 0, shift),
  ArrowUp: (shift) => step(0, 1, shift),
  ArrowDown: (shift) => step(0, -1, shift),
};

function step(dx, dy, shift) {
  if (DIMS === 3 && !shift) camera.turn(camera.yaw + dx * 0.12, camera.pitch + dy * 0.12);
  else camera.pan(dx * 48, dy * 48);
}

addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    $("query").focus();
  } else if (extras.keys?.[event.key]) {
    extras.keys[event.key](event);
  } else if (KEYS[event.key] && (event.target === over || !event.key.startsWith("Arrow"))) {
    event.preventDefault();
    KEYS[event.key](event.shiftKey);
    moved();
  }
});
$("nearer").addEventListener("click", () => (camera.zoomAt(1.5), moved()));
$("farther").addEventListener("click", () => (camera.zoomAt(1 / 1.5), moved()));
$("reset").addEventListener("click", reset);

// The ids that contain what is asked for, those that equal it first.
let lowered = null;
function find(query) {
  if (query === "") return [];
  lowered ??= Array.from({ length: N }, (_, i) => idOf(i).toLowerCase());
  const [same, part] = [[], []];
  const exact = data.ids ? query : `row ${query}`;
  for (let i = 0; i < N; i++) {
    if (lowered[i] === query || lowered[i] === exact) same.push(i);
    else if (lowered[i].includes(query)) part.push(i);
  }
  return same.concat(part);
}

function showFound(query) {
  const out = $("found");
  out.textContent = query === "" ? "" : found.length === 0 ? "none" : `${visited + 1} of ${found.length}`;
  const i = found[visited];
  $("said").textContent = i === undefined ? out.textContent : `${idOf(i)} ${labelOf(i)} ${storyOf(i)}, ${out.textContent}`;
  point(-1);
}

$("query").addEventListener("input", (event) => {
  const query = event.target.value.trim().toLowerCase();
  found = find(query);
  visited = 0;
  showFound(query);
});
$("query").addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    event.target.value = "";
    event.target.dispatchEvent(new Event("input"));
    over.focus();
  }
});
// Enter goes to the first found; again, to the next.
let gone = "";
$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  if (found.length === 0) return;
  const query = $("query").value;
  if (gone === query) visited = (visited + 1) % found.length;
  gone = query;
  camera.visit(found[visited]);
  showFound(query);
  draw();
});

// What to leave free at the bottom, in pixels: the height of the buttons, if points would lie under them.
const bottomFor = (buttons) => (width, height) => {
  const [left, top] = [width - buttons.offsetWidth - 24, height - buttons.offsetHeight - 24];
  for (let i = 0; i < N; i++) {
    const [x, y] = camera.place(i);
    if (x > left && y > top) return height - top;
  }
  return 0;
};

function resize() {
  ratio = Math.min(devicePixelRatio || 1, 3);
  camera.resize(stage.clientWidth, stage.clientHeight, bottomFor(document.querySelector(".tools")));
  for (const canvas of [dots, over]) {
    canvas.width = Math.round(camera.width * ratio);
    canvas.height = Math.round(camera.height * ratio);
  }
  moved();
}

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const [paper, ink] = ["--paper", "--ink"].map((name) => parseColour(style.getPropertyValue(name).trim()));
  theme = { paper, ink };
  mixColours();
  painter.recolour();
  draw();
}

readTheme();
dark.addEventListener("change", readTheme);
new ResizeObserver(resize).observe(stage);
resize();
makeLegend($("legend"), () => {
  camera.changed();
  painter.recolour();
  moved();
}, colourBy);
dots.addEventListener("webglcontextlost", (event) => event.preventDefault());
dots.addEventListener("webglcontextrestored", () => {
  painter.start();
  draw();
});
over.setAttribute("aria-label", `${document.title}: ${$("count").textContent} ${$("placed").textContent}`.trim());
$("help").textContent = DIMS === 3
  ? "Drag to turn, shift-drag to pan, wheel or pinch to zoom, arrow keys to turn, 0 to reset, / to search."
  : "Drag to pan, wheel or pinch to zoom, arrow keys and + − too, double-click or 0 to reset, / to search.";
