// Selected points: a line around them, drawn with shift or with the button, or all that are in view. They become a table and a
// file, and extras.summary may say what they have in common.

const [panel, selectButton] = [$("selection"), $("select")];
const TABLE_ROWS = 100; // more are shown when asked for
const RINGED = 300; // more rings would hide the points: then the others fade instead
const FADED = 0.25; // and still answer the pointer
let selected = [];
let line = null; // the corners of the line while it is drawn
let selecting = false; // whether a drag draws a line without shift

// Whether (x, y) is inside of the line: a ray to the right crosses it an odd number of times.
function isInside(corners, x, y) {
  let inside = false;
  for (let k = 0, last = corners.length - 1; k < corners.length; last = k++) {
    const [a, b] = [corners[k], corners[last]];
    if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) inside = !inside;
  }
  return inside;
}

function shownWhere(test) {
  const members = [];
  for (let i = 0; i < N; i++) {
    if (!isShown(i) || alpha[i] < LEAST_PICKED) continue;
    const [x, y] = camera.place(i);
    if (test(x, y)) members.push(i);
  }
  return members;
}

extras.drag = {
  // In 3-D a drag with shift pans; there the button is the way.
  start(event, at) {
    if (!selecting && !(event.shiftKey && DIMS === 2)) return false;
    line = [at];
    point(-1);
    over.classList.add("selecting");
    return true;
  },
  move(at) {
    if (!line) return false;
    line.push(at);
    drawSoon();
    return true;
  },
  end(whole) {
    if (!line) return false;
    const corners = line;
    line = null;
    over.classList.toggle("selecting", selecting);
    if (whole && corners.length > 2) select(shownWhere((x, y) => isInside(corners, x, y)));
    else drawSoon();
    return true;
  },
};

const under = extras.drawUnder;
extras.drawUnder = () => {
  under?.();
  pen.fillStyle = css(theme.ink);
  pen.globalAlpha = 0.6;
  pen.lineWidth = 1;
  pen.strokeStyle = css(theme.ink);
  pen.beginPath();
  for (const i of selected.length > RINGED ? [] : selected) {
    if (!isShown(i)) continue;
    const [x, y] = camera.place(i);
    const radius = reachOf(i) + 1.5;
    pen.moveTo(x + radius, y);
    pen.arc(x, y, radius, 0, 2 * Math.PI);
  }
  pen.stroke();
  pen.globalAlpha = 1;
  if (!line) return;
  pen.beginPath();
  line.forEach(({ x, y }) => pen.lineTo(x, y));
  pen.closePath();
  pen.globalAlpha = 0.08;
  pen.fill();
  pen.globalAlpha = 1;
  pen.setLineDash([5, 4]);
  pen.lineWidth = 1.5;
  pen.strokeStyle = css(theme.ink);
  pen.stroke();
  pen.setLineDash([]);
};

function setSelecting(on) {
  selecting = on;
  selectButton.setAttribute("aria-pressed", String(on));
  over.classList.toggle("selecting", on);
  $("said").textContent = on ? "Draw a line around points, or press v for all in view." : "";
}

function select(members) {
  selected = members;
  setSelecting(false);
  alpha.fill(members.length > RINGED ? FADED : 1);
  for (const i of members) alpha[i] = 1;
  painter.recolour();
  showSelection();
  draw();
}

function showSelection(rows = TABLE_ROWS) {
  panel.hidden = selected.length === 0;
  document.body.classList.toggle("with-selection", !panel.hidden);
  if (panel.hidden) return;
  const count = `${selected.length.toLocaleString("en")} ${selected.length === 1 ? "row" : "rows"} selected`;
  $("said").textContent = count;
  const head = element("header");
  head.append(element("h2", "", count), actionOf("Download CSV", downloadSelection), actionOf("Clear", () => select([])));
  const summary = element("div", "summary");
  summary.id = "selection-summary";
  const box = element("div", "rows");
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", "Table of the selected rows");
  const both = element("div", "both");
  both.append(summary, box);
  panel.replaceChildren(head, both);
  extras.summary?.(selected, summary);
  fillTable(box, rows);
}

function actionOf(text, act) {
  const button = element("button", "all", text);
  button.type = "button";
  button.addEventListener("click", act);
  return button;
}

// The names of the columns beside id and label: those of the map, and those that only placed points have.
const cardNames = [...new Set(cardColumns.map(({ name }) => name))];
const hasLabels = () => nameOf !== null;
const isLabelShown = () => hasLabels() && !cardNames.includes(data.colouredBy);

// The cells of a row: its id, its label, how it was placed, and its columns.
async function cellsOf(i) {
  const fields = await fieldsOf(i).catch(() => []);
  const of = (name) => fields.find((field) => field.name === name);
  const own = [idOf(i)];
  if (isLabelShown()) own.push(labelOf(i));
  if (data.placed) own.push(i < OWN ? "map" : layers[layerOf(i)].name);
  return own.concat(cardNames.map((name) => (of(name) ? textOf(of(name)) || "(image)" : "")));
}

function headings() {
  const own = ["id"];
  if (isLabelShown()) own.push(data.colouredBy || "label");
  if (data.placed) own.push("placed");
  return own.concat(cardNames);
}

async function fillTable(box, rows) {
  const now = selected;
  const cells = await Promise.all(selected.slice(0, rows).map(cellsOf));
  if (now !== selected) return;
  const table = element("table");
  const top = element("tr");
  top.append(...headings().map((name) => element("th", "", name)));
  table.append(element("thead"), element("tbody"));
  table.tHead.append(top);
  cells.forEach((texts, k) => {
    const row = element("tr");
    row.append(...texts.map((text) => {
      const cell = element("td", "", cut(text, 160));
      if (text.length > 40) cell.title = cut(text, 400);
      return cell;
    }));
    row.addEventListener("click", () => (camera.visit(selected[k]), point(selected[k]), draw()));
    table.tBodies[0].append(row);
  });
  box.replaceChildren(table);
  if (selected.length > rows) {
    box.append(actionOf(`Show more (${rows} of ${selected.length.toLocaleString("en")})`, () => fillTable(box, rows * 5)));
  }
}

// A cell as CSV has it. A spreadsheet would run one that begins like a formula: a quote before it makes it text.
function csvCell(text) {
  const safe = /^[=+@\t\r]|^-(?![\d.])/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

async function selectionCsv() {
  const lines = [headings()];
  // One after another: rows of a block are near each other, and blocks are kept.
  for (const i of selected) lines.push(await cellsOf(i));
  return lines.map((cells) => cells.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

async function downloadSelection() {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([await selectionCsv()], { type: "text/csv" }));
  link.download = "selection.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

selectButton.hidden = false;
selectButton.title = "Draw a line around points (s); v selects all in view";
selectButton.addEventListener("click", () => setSelecting(!selecting));
extras.keys = {
  ...extras.keys,
  s: () => setSelecting(!selecting),
  v: () => select(shownWhere((x, y) => x >= 0 && y >= 0 && x < camera.width && y < camera.height)),
  Escape: () => {
    if (selecting) return setSelecting(false);
    closeCard(true);
  },
};
$("help").textContent = $("help").textContent.replace(
  ", / to search.",
  `, / to search, ${DIMS === 2 ? "shift-drag" : "Select"} to select.`,
);
