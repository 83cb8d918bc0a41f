// Names of clusters, level by level as one zooms in, and what is known of each.

const clusterNames = data.clusters ?? [];
const deepest = Math.max(0, ...clusterNames.map((cluster) => cluster.levels[1]));
// Where names stand now, for the pointer.
let nameBoxes = [];

// Twice as near shows the next level.
const levelNow = () => Math.min(deepest, Math.max(0, Math.floor(Math.log2(camera.zoom) + 1e-9)));

// Writes the names of this level, the largest cluster first; one that would touch another is left out. Says where they stand.
function drawClusterNames() {
  const level = levelNow();
  const taken = [];
  nameBoxes = [];
  const shown = clusterNames.filter(({ levels: [first, last] }) => first <= level && level <= last);
  for (const cluster of shown.sort((a, b) => b.size - a.size || a.id - b.id)) {
    if (cluster.name === "") continue;
    const name = cluster.name.length > 34 ? `${cluster.name.slice(0, 33)}…` : cluster.name;
    const [left, top] = camera.place(cluster.anchor);
    if (!(left >= 0) || left > camera.width || top < 0 || top > camera.height) continue;
    const half = pen.measureText(name).width / 2;
    const x = Math.max(Math.min(left, camera.width - half - 4), half + 4);
    // In its place, or a little above or below it where another name is.
    const free = [0, -18, 18, -32, 32].map((off) => top + off).find((y) =>
      y > 8 && y < camera.height - 8 && !taken.some((t) => Math.abs(t.x - x) < t.half + half + 3 && Math.abs(t.y - y) < 17));
    if (free === undefined) continue;
    taken.push({ x, y: free, half });
    nameBoxes.push({ x, y: free, half, cluster });
    pen.strokeText(name, x, free);
    pen.fillText(name, x, free);
  }
  return taken;
}

const shortNumber = (value) => {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en", { useGrouping: size >= 10000 }); // a year has no comma
  if (size > 0 && size < 0.001) return value.toExponential(2);
  return String(Number(value.toPrecision(3)));
};
const inPercent = (share) => `${share > 0 && share < 0.1 ? (100 * share).toFixed(1) : Math.round(100 * share)} %`;
const asDate = (days) => new Date(Math.round(days) * 864e5).toISOString().slice(0, 10);
const contrastWords = ({ kind, value, inside, outside }) => {
  const show = { number: shortNumber, date: asDate, category: inPercent }[kind];
  return `${value === null ? "" : `${value}: `}${show(inside)} against ${show(outside)}`;
};

// The columns that set some rows apart, as lines of a table.
function effectTable(columns) {
  const table = element("table", "effects");
  for (const column of columns) {
    const row = element("tr");
    row.title = `${column.effect < 0 ? "lower" : "higher"} by ${Math.abs(column.effect).toFixed(2)} standard deviations of all rows`;
    const effect = `${column.effect < 0 ? "−" : "+"}${Math.abs(column.effect).toFixed(2)} ± ${column.error.toFixed(2)}`;
    row.append(element("th", "", column.column), element("td", "", contrastWords(column)), element("td", "effect", effect));
    table.append(row);
  }
  return table;
}

// Gives a cluster another name, on the map and in the legend.
function renamed(cluster, name) {
  for (const { classes } of colourings) for (const entry of classes ?? []) if (entry.name === cluster.name) entry.name = name;
  for (const label of $("legend").querySelectorAll(".class span")) if (label.textContent === cluster.name) label.textContent = name;
  cluster.name = name;
}

// What is known of a cluster, beside the map; its name can be edited.
const about = element("section", "about");
about.hidden = true;
about.setAttribute("aria-label", "About a cluster");
if (clusterNames.length) stage.append(about);

function showCluster(cluster) {
  const card = cluster.card ?? {};
  const name = element("input");
  name.value = cluster.name;
  name.setAttribute("aria-label", "Name of the cluster");
  name.addEventListener("change", () => {
    renamed(cluster, name.value.trim() || cluster.name);
    name.value = cluster.name;
    keepNames();
    drawSoon();
  });
  const close = element("button", "close", "×");
  close.type = "button";
  close.setAttribute("aria-label", "Close");
  close.addEventListener("click", () => (about.hidden = true));
  const parts = [close, name, element("p", "size", `${cluster.size.toLocaleString("en")} rows, ${inPercent(cluster.size / OWN)}`)];
  if (card.keywords?.length) parts.push(element("p", "words", card.keywords.join(" · ")));
  if (card.columns?.length) parts.push(effectTable(card.columns));
  if (card.typical?.length) parts.push(element("p", "size", `Typical: ${card.typical.join(", ")}`));
  const save = element("button", "save", "Save all names");
  save.type = "button";
  save.title = "names.json, for lion explain --names and lion plot --names";
  save.addEventListener("click", saveNames);
  parts.push(save);
  about.replaceChildren(...parts);
  about.hidden = false;
}

// Edits stay in this browser, where it allows that, and become a file by the button.
const namesKey = `lion names ${data.namesOf?.map}`;
function keepNames() {
  try {
    localStorage.setItem(namesKey, JSON.stringify(namesNow()));
  } catch {
    // A page that is opened as a file may not keep anything.
  }
}
const namesNow = () => Object.fromEntries(clusterNames.map(({ id, name }) => [id, name]));
function saveNames() {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([`${JSON.stringify({ ...data.namesOf, names: namesNow() }, null, 2)}\n`]));
  link.download = "names.json";
  link.click();
}
try {
  const kept = JSON.parse(localStorage.getItem(namesKey) ?? "{}");
  for (const cluster of clusterNames) renamed(cluster, kept[cluster.id] ?? cluster.name);
} catch {
  // Names as the page has them.
}

// A click on a name tells of its cluster, and not of the point under it.
extras.press = (x, y) => {
  const hit = nameBoxes.find((box) => Math.abs(box.x - x) < box.half + 3 && Math.abs(box.y - y) < 10);
  about.hidden = true;
  if (!hit) return false;
  closeCard();
  showCluster(hit.cluster);
  return true;
};
draw();
