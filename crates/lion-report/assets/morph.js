// One map becomes another: first the first map is turned, scaled and moved onto the second as a whole, so that the eye keeps
// its bearings; then each row goes to its place in the second.

const { morph } = data;
const FIRST = 1; // bits of what maps a row is in
const SECOND = 2;
const SECONDS = 5; // from one end to the other
const PALE = 0.08; // how much of a row is seen while others are looked at
const MOST_TRAILS = 500;

const within = decode(morph.within);
const start = new Float32Array(decode(morph.from).buffer);
const target = points.slice();
const movedBy = new Float32Array(decode(morph.moved).buffer);
const overlaps = new Float32Array(decode(morph.overlap).buffer);
const clusterOf = morph.clusterOf.map((codes) => new Int32Array(decode(codes).buffer));
const still = matchMedia("(prefers-reduced-motion: reduce)");

// The rows that moved, and those of them with a trail: all, or a sample that reaches from the farthest to the nearest.
const isMover = (i) => within[i] === 3 && movedBy[i] >= morph.mover;
const trails = Array.from({ length: N }, (_, i) => i).filter(isMover).sort((a, b) => movedBy[b] - movedBy[a] || a - b);
const every = Math.max(trails.length / MOST_TRAILS, 1);
for (let k = 0; k < Math.min(trails.length, MOST_TRAILS); k++) trails[k] = trails[Math.floor(k * every)];
trails.length = Math.min(trails.length, MOST_TRAILS);

// The rows that only the second map has: all have a ring, or as many as can be told apart.
const MOST_RINGS = 2000;
const RING = 5; // its radius in pixels
const news = Array.from({ length: N }, (_, i) => i).filter((i) => within[i] === SECOND);
const ringed = news.filter((_, at) => at % Math.ceil(news.length / MOST_RINGS) === 0);
$("news").hidden = news.length === 0;

let time = 0; // 0 the first map, 1 the second
let chosen = null; // the change that is looked at
let playing = 0; // the frame asked for
let forwards = true;

const ease = (share) => share * share * (3 - 2 * share);
const clamp = (value) => Math.min(Math.max(value, 0), 1);
const turned = () => (TURN > 0 ? ease(clamp(time / TURN)) : 1);
const arrived = () => ease(clamp((time - TURN) / (1 - TURN)));

// The first map moved as a whole, a share u of the way: scale · R · flip · place + shift, R about an axis (Rodrigues).
function transform(u) {
  const { axis: [x, y, z], angle, flip, shift } = morph.turn;
  const scale = morph.turn.scale ** u;
  const [s, c] = [Math.sin(angle * u), Math.cos(angle * u)];
  const k = 1 - c;
  const rows = [
    c + x * x * k, x * y * k - z * s, x * z * k + y * s,
    y * x * k + z * s, c + y * y * k, y * z * k - x * s,
    z * x * k - y * s, z * y * k + x * s, c + z * z * k,
  ];
  // A mirrored map turns over like a sheet of paper.
  const flips = [1, 1, 1];
  if (flip) flips[DIMS - 1] = 1 - 2 * u;
  return { rows: rows.map((value, at) => value * scale * flips[at % 3]), shift: shift.map((value) => value * u) };
}

// Puts every point where it is at this time, the first map in the frame of the second into `into`.
function place(u, v, into) {
  const { rows: r, shift } = transform(u);
  for (let i = 0, at = 0; i < N; i++, at += DIMS) {
    if (!(within[i] & FIRST)) {
      for (let d = 0; d < DIMS; d++) into[at + d] = target[at + d];
      continue;
    }
    const [x, y, z] = [start[at], start[at + 1], DIMS === 3 ? start[at + 2] : 0];
    const stays = within[i] & SECOND ? v : 0;
    for (let d = 0; d < DIMS; d++) {
      const here = r[3 * d] * x + r[3 * d + 1] * y + r[3 * d + 2] * z + shift[d];
      into[at + d] = here + (target[at + d] - here) * stays;
    }
  }
}

// The first map brought onto the second: where trails begin.
const brought = new Float32Array(N * DIMS);
place(1, 0, brought);
// This share of the way the first map moves as a whole; none, if it is where it should be.
let shifted = 0;
for (let i = 0; i < N * DIMS; i++) if (within[Math.floor(i / DIMS)] & FIRST) shifted += Math.abs(brought[i] - start[i]) / (N * DIMS);
const TURN = shifted > 0.02 ? 0.3 : 0;

function isChosen(i) {
  if (chosen === null) return !$("movers").checked || isMover(i);
  const { a, b } = morph.changes[chosen];
  return a.includes(clusterOf[0][i]) || b.includes(clusterOf[1][i]);
}

function shade() {
  const v = arrived();
  for (let i = 0; i < N; i++) {
    const there = within[i] === 3 ? 1 : within[i] === FIRST ? 1 - v : v;
    alpha[i] = there * (isChosen(i) ? 1 : PALE);
  }
  painter.recolour();
}
const fades = within.some((maps) => maps !== 3);

function setTime(value, reshade = fades) {
  time = clamp(value);
  place(turned(), arrived(), points);
  if (reshade) shade();
  painter.move();
  camera.changed();
  const slider = $("time");
  slider.value = Math.round(time * 1000);
  const words = time === 0 ? morph.names[0] : time === 1 ? morph.names[1]
    : time < TURN ? `${morph.names[0]}, being aligned`
    : time === TURN ? `${morph.names[0]}, aligned` : `${Math.round(arrived() * 100)} % of the way to ${morph.names[1]}`;
  $("phase").textContent = words;
  slider.setAttribute("aria-valuetext", words);
  $("first").setAttribute("aria-pressed", String(time === 0));
  $("second").setAttribute("aria-pressed", String(time === 1));
  moved();
}

// Playing: from one end to the other, then back.
function pause() {
  cancelAnimationFrame(playing);
  playing = 0;
  $("play").textContent = time === 1 ? "Play back" : "Play";
}

function play() {
  if (playing) return pause();
  if (time === 1) forwards = false;
  if (time === 0) forwards = true;
  run();
}

function run() {
  cancelAnimationFrame(playing);
  if (still.matches) { // those who do not want things to move see the other end
    setTime(forwards ? 1 : 0);
    return pause();
  }
  let before = null; // the time of a frame may lie before now
  const step = (now) => {
    const share = Math.min((now - (before ?? now)) / 1000, 0.1) / SECONDS;
    before = now;
    setTime(time + (forwards ? share : -share));
    if (time === (forwards ? 1 : 0)) return pause();
    playing = requestAnimationFrame(step);
  };
  playing = requestAnimationFrame(step);
  $("play").textContent = "Pause";
}
const go = (value) => () => {
  pause();
  setTime(value);
  pause();
};

$("play").addEventListener("click", play);
$("first").addEventListener("click", go(0));
$("second").addEventListener("click", go(1));
$("time").addEventListener("input", (event) => go(Number(event.target.value) / 1000)());
for (const name of ["trails", "movers", "rings"]) $(name).addEventListener("change", () => setTime(time, true));
addEventListener("keydown", (event) => {
  if (event.key !== " " || (event.target !== over && event.target !== document.body)) return;
  event.preventDefault();
  play();
});

// Trails of rows that moved, from where the first map has them to where they are now.
extras.drawUnder = () => {
  const v = arrived();
  if (v === 0) return;
  if ($("rings").checked) drawRings(v);
  if ($("trails").checked) drawTrails();
};

function drawRings(v) {
  // Many rings are fainter, so that what is below them can be seen.
  pen.globalAlpha = v * Math.min(Math.max(200 / ringed.length, 0.3), 0.8);
  pen.lineWidth = 1.2;
  pen.strokeStyle = css(theme.ink);
  for (const i of ringed) {
    if (!isShown(i) || !isChosen(i)) continue;
    const [x, y] = camera.place(i);
    pen.beginPath();
    pen.arc(x, y, RING, 0, 2 * Math.PI);
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

function drawTrails() {
  const now = points.slice();
  points.set(brought);
  const from = trails.map((i) => camera.place(i));
  points.set(now);
  pen.lineWidth = 1.2;
  // Many trails are fainter, so that what is below them can be seen.
  const strength = Math.min(Math.max(60 / trails.length, 0.25), 0.75);
  pen.lineCap = "round";
  trails.forEach((i, at) => {
    if (!isShown(i) || !isChosen(i)) return;
    const [x, y] = camera.place(i);
    const line = pen.createLinearGradient(from[at][0], from[at][1], x, y);
    const colour = colourOf(i).join();
    line.addColorStop(0, `rgba(${colour},0.08)`);
    line.addColorStop(1, `rgba(${colour},${strength})`);
    pen.strokeStyle = line;
    pen.beginPath();
    pen.moveTo(from[at][0], from[at][1]);
    pen.lineTo(x, y);
    pen.stroke();
  });
}

const short = (value) => (value === 0 ? "0" : value < 0.01 ? "<0.01" : value.toFixed(2));
const clusterName = (map, i) => morph.clusters[map][clusterOf[map][i]];
extras.story = (i) => {
  const words = [];
  if (within[i] === 3) words.push(`moved ${short(movedBy[i])} map radii`, `neighbour overlap ${short(overlaps[i])}`);
  else words.push(`only in ${morph.names[within[i] === FIRST ? 0 : 1]}`);
  const clusters = [0, 1].map((map) => clusterName(map, i));
  if (within[i] === 3 && clusters[0] !== clusters[1]) words.push(`cluster ${clusters[0] ?? "none"} → ${clusters[1] ?? "none"}`);
  return words.join(" · ");
};

// The name of a class stands at one of its rows, on the way from the middle in the first map to that in the second.
const anchors = [FIRST, SECOND].map((map) => {
  const from = map === FIRST ? brought : target;
  const members = (data.classes ?? []).map(() => []);
  for (let i = 0; i < N; i++) if (data.classes && within[i] & map) members[classOf(i)].push(i);
  return members.map((rows) => {
    const middle = [];
    for (let d = 0; d < DIMS; d++) {
      middle.push(Float32Array.from(rows, (i) => from[i * DIMS + d]).sort()[rows.length >> 1]);
    }
    const away = (i) => middle.reduce((sum, m, d) => sum + (from[i * DIMS + d] - m) ** 2, 0);
    return rows.reduce((best, i) => (best < 0 || away(i) < away(best) ? i : best), -1);
  });
});
extras.nameAt = (c) => {
  const v = arrived();
  const [a, b] = [anchors[0][c], anchors[1][c]];
  if (a < 0) return v > 0.5 ? camera.place(b) : [NaN, NaN];
  if (b < 0) return v < 0.5 ? camera.place(a) : [NaN, NaN];
  const [from, to] = [camera.place(a), camera.place(b)];
  return from.map((value, k) => value + (to[k] - value) * v);
};

// The list of changed clusters: a click leaves the rows of one in colour.
function makeChanges(root) {
  const buttons = [];
  let list = null;
  morph.changes.forEach((change, at) => {
    if (morph.changes[at - 1]?.kind !== change.kind) {
      root.append(element("h2", "", change.kind));
      root.append((list = element("ul")));
    }
    const button = element("button", "change");
    button.type = "button";
    button.append(element("b", "", change.name), ` ${change.words} `, element("small", "", change.count));
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      chosen = chosen === at ? null : at;
      buttons.forEach((other, k) => other.setAttribute("aria-pressed", String(k === chosen)));
      setTime(time, true);
      // What only one of the maps has is to be seen at its end.
      const end = chosen === null ? time : change.end ?? time;
      if (end === time) return;
      forwards = end === 1;
      run();
    });
    buttons.push(button);
    const item = element("li");
    item.append(button);
    list.append(item);
  });
}
makeChanges($("changes"));

// Room for both maps, and for what is between them.
camera.half = [points, brought, start].reduce((half, places) => {
  points.set(places);
  return Camera.extent().map((h, k) => Math.max(h, half[k]));
}, [0, 0]);
camera.reset();
$("help").textContent += " Space plays.";
setTime(0, true);
