// What is known: the points, their ids, labels and colours. Nothing here knows the screen.

const data = JSON.parse(document.getElementById("data").textContent);
const N = data.n;
const DIMS = data.dims;

function decode(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// n x dims, within [-1, 1], little-endian as every browser's machine is.
const points = new Float32Array(decode(data.points).buffer);
// For each point the place of its label in data.names, or null without labels.
const nameOf = data.index
  ? new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[data.index.bytes](decode(data.index.data).buffer)
  : null;

const idOf = (i) => (data.ids ? data.ids[i] : `row ${i + 1}`);
const labelOf = (i) => (nameOf ? data.names[nameOf[i]] : "");
const classOf = (i) => (data.classes ? data.classOf[nameOf[i]] : 0);

// The classes that the reader has hidden.
const hidden = new Set();
const isShown = (i) => hidden.size === 0 || !hidden.has(classOf(i));

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
    const value = name === "" ? NaN : Number(name);
    if (Number.isNaN(value)) return parseColour(data.unlabelled);
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

let nameColours;
let plainColour;
function mixColours() {
  nameColours = data.classes || data.scale ? coloursOfNames().map(onPaper) : null;
  plainColour = onPaper(parseColour(data.plain));
}
mixColours();
const colourOf = (i) => (nameColours ? nameColours[nameOf[i]] : plainColour);

// The order of drawing: shuffled, so that no class hides another, but always the same.
const order = new Uint32Array(N);
for (let i = 0; i < N; i++) order[i] = i;
for (let last = N - 1, state = 0x2545f491; last > 0; last--) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  const other = (state >>> 0) % (last + 1);
  const swap = order[last];
  order[last] = order[other];
  order[other] = swap;
}
