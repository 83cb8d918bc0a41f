// What is known: the points, their ids, labels and colours. Nothing here knows the screen.

const data = JSON.parse(document.getElementById("data").textContent);
// The map's own points come first, then those placed into it, all in one count.
const OWN = data.n;
const N = OWN + (data.placed?.n ?? 0);
const DIMS = data.dims;

function decode(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// n x dims, within [-1, 1], little-endian as every browser's machine is.
const points = new Float32Array(decode(data.points).buffer);
// What the points can be coloured by. Data itself has the one that is chosen: at first the first of them.
const OF_COLOURING = ["colouredBy", "placedLabelled", "names", "index", "classes", "classOf", "scale"];
const colourings = [Object.fromEntries(OF_COLOURING.map((key) => [key, data[key]])), ...(data.others ?? [])];
// For each point the place of its label in data.names, or null without labels.
const namesOf = ({ index }) =>
  index ? new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[index.bytes](decode(index.data).buffer) : null;
let nameOf = namesOf(data);

// What is drawn over what: the map, then the layers of placed points, outliers on top.
const { layers } = data;
const placedLayerOf = data.placed ? decode(data.placed.layerOf) : null;
const scores = data.placed?.scores ? new Float64Array(decode(data.placed.scores).buffer) : null;

const layerOf = (i) => (i < OWN ? 0 : placedLayerOf[i - OWN]);
const idOf = (i) => {
  if (i < OWN) return data.ids ? data.ids[i] : `row ${i}`;
  return data.placed.ids ? data.placed.ids[i - OWN] : `placed row ${i - OWN}`;
};
const labelOf = (i) => (nameOf ? data.names[nameOf[i]] : "");

// The groups of outliers: the members of each. Their diamonds may lie so close that they look like one.
const groups = new Map();
for (const [at, group] of Object.entries(data.placed?.groups ?? {})) {
  const i = OWN + Number(at);
  if (layers[layerOf(i)].name !== "outlier") continue;
  if (!groups.has(group)) groups.set(group, []);
  groups.get(group).push(i);
}
const sizeOf = (group) => groups.get(group)?.length ?? 1;
// Those of more than one, the largest first: their size is told on the map, if they are not too many.
const crowds = [...groups.values()].filter((members) => members.length > 1)
  .sort((a, b) => b.length - a.length).slice(0, data.placed?.mostSizes ?? 0);

// What later scripts add: words about a point, where the name of a class stands, what is drawn under the rings, what the
// tooltip tells further, what a click on a point or beside all does, and one at a place over the points (true if something is
// there), a drag that is not the camera's, keys, and what is said of selected points (a function of their numbers and of the
// element that it fills).
const extras = {
  story: null, nameAt: null, drawUnder: null, tip: null, click: null, press: null, drag: null, keys: null, summary: null,
};
// How much of each point is to be seen, from 0 to 1.
const alpha = new Float32Array(N).fill(1);
const LEAST_PICKED = 0.2; // a fainter point does not answer the pointer

// How a placed point came to its place, in words.
function storyOf(i) {
  if (extras.story) return extras.story(i);
  if (i < OWN) return "";
  const words = [layers[layerOf(i)].name];
  if (scores) words.push(`score ${Number(scores[i - OWN].toPrecision(3))}`);
  const group = data.placed.groups?.[i - OWN];
  if (group !== undefined) words.push(`group ${group}${sizeOf(group) > 1 ? ` of ${sizeOf(group)}` : ""}`);
  return words.join(" · ");
}

// Whether the label decides the colour; an outlier warns instead, and a placed point may have none.
const isByLabel = (i) => i < OWN || (!layers[layerOf(i)].diamond && labelOf(i) !== "");
const classOf = (i) => (data.classes && isByLabel(i) ? data.classOf[nameOf[i]] : -1);

// The classes and the layers that the reader has hidden.
const hidden = new Set();
const hiddenLayers = new Set();
const isShown = (i) =>
  (hidden.size === 0 || !hidden.has(classOf(i))) && (hiddenLayers.size === 0 || !hiddenLayers.has(layerOf(i)));

function parseColour(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// The colour of each label: its class's, or its place on the scale.
function coloursOfNames() {
  if (data.classes) return data.classOf.map((c) => parseColour(data.classes[c].colour));
  const { low, high, stops } = data.scale;
  const colours = stops.map(parseColour);
  // By halves, since the span of finite numbers need not be finite.
  const span = high / 2 - low / 2;
  return data.names.map((name) => {
    // Numbers as the still pictures read them, and no others.
    const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(name) ? Number(name) : NaN;
    if (!Number.isFinite(value)) return parseColour(data.unlabelled);
    const share = span > 0 ? (value / 2 - low / 2) / span : 0.5;
    const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
    const stop = Math.min(Math.floor(at), stops.length - 2);
    return colours[stop].map((c, k) => Math.round(c + (colours[stop + 1][k] - c) * (at - stop)));
  });
}

// On a dark page dark colours are lifted towards white, the darkest by the most.
const dark = matchMedia("(prefers-color-scheme: dark)");
function onPaper(colour) {
  const light = (0.3 * colour[0] + 0.6 * colour[1] + 0.1 * colour[2]) / 255;
  const lift = dark.matches ? 0.45 * Math.max(0, 1 - 1.6 * light) : 0;
  return colour.map((c) => Math.round(c + (255 - c) * lift));
}

function mixed(colour, other, share) {
  return colour.map((c, k) => Math.round(c + (other[k] - c) * share));
}

// Colours by another of the choices; what was hidden is shown again.
function colourBy(k) {
  for (const key of OF_COLOURING) data[key] = colourings[k][key];
  nameOf = namesOf(data);
  hidden.clear();
  mixColours();
}

let colours; // of each label, in the map and among the placed; of points without, and of outliers
function mixColours() {
  const paper = parseColour(getComputedStyle(document.documentElement).getPropertyValue("--paper").trim());
  // Under placed points the map is pale.
  const calm = (colour) => mixed(colour, paper, data.placed?.calm ?? 0);
  const names = data.classes || data.scale ? coloursOfNames().map(onPaper) : null;
  const one = (hex) => onPaper(parseColour(hex ?? data.plain));
  const { accent, outlier } = data.placed ?? {};
  colours = { names, own: names?.map(calm), plain: calm(one()), accent: one(accent), outlier: one(outlier) };
}
mixColours();
function colourOf(i) {
  if (i < OWN) return colours.own ? colours.own[nameOf[i]] : colours.plain;
  if (isByLabel(i)) return colours.names[nameOf[i]];
  return layers[layerOf(i)].diamond ? colours.outlier : colours.accent;
}

// The order of drawing: layer by layer, each shuffled, so that no class hides another, but always the same.
const shuffled = new Uint32Array(N);
for (let i = 0; i < N; i++) shuffled[i] = i;
for (let last = N - 1, state = 0x2545f491; last > 0; last--) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  const other = (state >>> 0) % (last + 1);
  const swap = shuffled[last];
  shuffled[last] = shuffled[other];
  shuffled[other] = swap;
}
const order = new Uint32Array(N);
layers.reduce((start, layer, l) => {
  let end = start;
  for (const i of shuffled) if (layerOf(i) === l) order[end++] = i;
  Object.assign(layer, { start, end });
  return end;
}, 0);
