// A card for each cluster beside the map. Nothing is loaded: all that is shown is in the page.

const data = JSON.parse(document.getElementById("data").textContent);
const bytes = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
const points = new Float32Array(bytes(data.points).buffer);
const N = points.length / 2;
const NONE = 0xffff;
const levels = data.levels.map((level) => new Uint16Array(bytes(level).buffer));
const clusters = new Map(data.clusters.map((cluster) => [cluster.id, cluster]));
const $ = (id) => document.getElementById(id);
let level = 0;
let hovered = null;

function element(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}

const number = (value) => {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  if (size > 0 && size < 0.001) return value.toExponential(2);
  return String(Number(value.toPrecision(3)));
};
const date = (days) => new Date(Math.round(days) * 864e5).toISOString().slice(0, 10);
const percent = (share) => `${100 * share > 0 && share < 0.1 ? (100 * share).toFixed(1) : Math.round(100 * share)} %`;
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

// The clusters of a level, largest first.
function shown() {
  const ids = new Set(levels[level]);
  ids.delete(NONE);
  return [...ids].map((id) => clusters.get(id)).sort((a, b) => b.size - a.size || a.id - b.id);
}
const colourOf = (cluster, list) => data.colours[list.indexOf(cluster) % data.colours.length];
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Where points go in a picture of this size.
function fit(canvas) {
  const ratio = Math.min(devicePixelRatio || 1, 2);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  let [wide, high] = [1e-9, 1e-9];
  for (let i = 0; i < N; i++) {
    wide = Math.max(wide, Math.abs(points[2 * i]));
    high = Math.max(high, Math.abs(points[2 * i + 1]));
  }
  const scale = 0.93 * Math.min(width / (2 * wide), height / (2 * high));
  return { pen, width, height, at: (i) => [width / 2 + points[2 * i] * scale, height / 2 - points[2 * i + 1] * scale] };
}

function drawMap() {
  const canvas = $("map").querySelector("canvas");
  const { pen, width, height, at } = fit(canvas);
  const list = shown();
  const colours = new Map(list.map((cluster) => [cluster.id, colourOf(cluster, list)]));
  const size = Math.max(1.4, Math.min(4, 60 / Math.sqrt(N) * 2));
  const faint = style("--line");
  for (const own of [false, true]) {
    for (let i = 0; i < N; i++) {
      const id = levels[level][i];
      if ((hovered !== null && id === hovered) !== own) continue;
      pen.globalAlpha = hovered === null || own ? 0.8 : 0.45;
      pen.fillStyle = id === NONE || (hovered !== null && !own) ? faint : colours.get(id);
      const [x, y] = at(i);
      pen.fillRect(x - size / 2, y - size / 2, size, size);
    }
  }
  pen.globalAlpha = 1;
  drawNames(pen, list, at, width, height);
}

// The largest first; a name that would touch another is left out.
function drawNames(pen, list, at, width, height) {
  pen.font = "600 13px Inter, system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.lineWidth = 4;
  pen.strokeStyle = style("--paper");
  pen.fillStyle = style("--ink");
  const taken = [];
  for (const cluster of list) {
    if (hovered !== null && cluster.id !== hovered) continue;
    const name = cluster.name.length > 30 ? `${cluster.name.slice(0, 29)}…` : cluster.name;
    const half = pen.measureText(name).width / 2;
    const [left, top] = at(cluster.anchor);
    const x = Math.max(half + 4, Math.min(left, width - half - 4));
    const y = Math.max(10, Math.min(top, height - 10));
    if (taken.some((t) => Math.abs(t.x - x) < t.half + half + 4 && Math.abs(t.y - y) < 16)) continue;
    taken.push({ x, y, half });
    pen.strokeText(name, x, y);
    pen.fillText(name, x, y);
  }
}

function drawSmall(canvas, cluster, colour) {
  const { pen, at } = fit(canvas);
  const step = Math.max(1, Math.floor(N / 3000));
  pen.fillStyle = style("--faint");
  pen.globalAlpha = 0.35;
  for (let i = 0; i < N; i += step) pen.fillRect(...at(i), 1, 1);
  pen.globalAlpha = 1;
  pen.fillStyle = colour;
  const every = Math.max(1, Math.floor(cluster.size / 1500));
  let seen = 0;
  for (let i = 0; i < N; i++) {
    if (levels[level][i] !== cluster.id || seen++ % every) continue;
    const [x, y] = at(i);
    pen.fillRect(x - 0.8, y - 0.8, 1.6, 1.6);
  }
}

function columnRow({ column, kind, value, inside, outside, effect, error }) {
  const row = element("tr");
  const show = { number, date, category: percent }[kind];
  const said = `${value === null ? "" : `${value}: `}${show(inside)} against ${show(outside)}`;
  const middle = element("td", said);
  const bar = element("div", undefined, "bar");
  const mark = element("i");
  const reach = 50 * Math.min(1, Math.abs(effect) / 3);
  Object.assign(mark.style, { width: `${reach}%`, left: effect < 0 ? `${50 - reach}%` : "50%" });
  bar.append(mark);
  middle.append(bar);
  row.append(element("td", column), middle, element("td", `${signed(effect)} ± ${error.toFixed(2)}`));
  return row;
}

function card(cluster, list) {
  const made = element("article", undefined, "card");
  made.id = `cluster-${cluster.id}`;
  const colour = colourOf(cluster, list);
  const top = element("div", undefined, "top");
  const small = element("canvas");
  small.setAttribute("aria-hidden", "true");
  const head = element("div");
  const title = element("h2");
  const dot = element("i");
  dot.style.background = colour;
  title.append(dot, cluster.name);
  const label = cluster.label && cluster.label !== cluster.name ? ` · ${percent(cluster.label_share)} ${cluster.label}` : "";
  head.append(title, element("p", `${cluster.size.toLocaleString("en")} rows, ${percent(cluster.share)}${label}`, "size"));
  top.append(small, head);
  made.append(top);
  if (cluster.keywords.length) {
    const words = element("ul", undefined, "words");
    cluster.keyword_shares.forEach((k) => {
      const item = element("li", k.word);
      item.title = `in ${percent(k.share)} of its texts, ${percent(k.share_outside)} of others`;
      words.append(item);
    });
    made.append(words);
  }
  if (cluster.columns.length) {
    const table = element("table");
    table.append(...cluster.columns.map(columnRow));
    made.append(table);
  } else if (!cluster.keywords.length) {
    made.append(element("p", "No column sets it apart clearly.", "none"));
  }
  made.append(facts(cluster));
  made.addEventListener("pointerenter", () => hover(cluster.id));
  made.addEventListener("pointerleave", () => hover(null));
  seen.observe(small);
  small.draw = () => drawSmall(small, cluster, colour);
  return made;
}

function facts(cluster) {
  const list = element("dl");
  const add = (title, ...parts) => {
    const line = element("div");
    const said = element("dd");
    said.append(...parts);
    line.append(element("dt", title), said);
    list.append(line);
  };
  if (cluster.typical.length) add("Typical", cluster.typical.join(", "));
  const beside = cluster.borders.map((border) => clusters.get(border.cluster)).flatMap((other, at) => {
    const link = element("a", other.name);
    link.href = `#cluster-${other.id}`;
    return at ? [" · ", link] : [link];
  });
  if (beside.length) add("Beside", ...beside);
  return list;
}

// A small map is drawn when it is looked at.
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    target.draw();
  }
}, { rootMargin: "200px" });

function hover(id) {
  hovered = id;
  $("hovered").textContent = id === null ? "" : clusters.get(id).name;
  requestAnimationFrame(drawMap);
}

function show() {
  const list = shown();
  $("cards").replaceChildren(...list.map((cluster) => card(cluster, list)));
  document.querySelectorAll("#levels button").forEach((button, at) => button.setAttribute("aria-pressed", String(at === level)));
  drawMap();
}

if (levels.length > 1) {
  levels.forEach((_, at) => {
    level = at;
    const button = element("button", `${shown().length} clusters`);
    button.type = "button";
    button.addEventListener("click", () => {
      level = at;
      show();
    });
    $("levels").append(button);
  });
  level = 0;
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
addEventListener("resize", drawMap);
show();
