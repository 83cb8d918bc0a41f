// What a point is, in the columns that the map keeps for people: a few words in the tooltip, all of it in a card after a click.
// The values lie in compressed blocks of rows, and a block is decoded when one of its points is asked for.

const columnsOf = (i) => (i < OWN ? data.cards.own : data.cards.placed);
const cardColumns = [...data.cards.own, ...data.cards.placed];
const CACHED_BLOCKS = 64;
const TIP_TEXT = 140; // letters of a text in the tooltip
const CARD_TEXT = 600; // and in the card, before one asks for all
const decoded = new Map();

// The bytes of a part of the packed text.
let packed = null;
function inflated(start, end) {
  packed ??= $("cards").textContent;
  const stream = new Blob([decode(packed.slice(start, end))]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}
// The values of a block, as its kind has them; undefined where there is none.
async function decodeBlock(column, block) {
  const { kind, start, ends } = column;
  const bytes = await inflated(block > 0 ? ends[block - 1] : start, ends[block]);
  if (kind === "number") {
    return Array.from(new Float64Array(bytes), (value) => (Number.isNaN(value) ? undefined : value));
  }
  const rows = rowsOfBlock(column, block);
  const lengths = new Uint32Array(bytes, 0, rows);
  const reader = new TextDecoder();
  let at = 4 * rows;
  return Array.from(lengths, (length) => {
    if (length === 0xffffffff) return undefined;
    const value = new Uint8Array(bytes, at, length);
    at += length;
    return kind === "image" ? value : reader.decode(value);
  });
}

function rowsOfBlock(column, block) {
  const rows = data.cards.own.includes(column) ? OWN : N - OWN;
  return Math.min(column.blockRows, rows - block * column.blockRows);
}

// A promise of the values of a block; the last ones that were asked for are kept.
function blockOf(column, block) {
  const key = `${cardColumns.indexOf(column)}:${block}`;
  const known = decoded.get(key) ?? decodeBlock(column, block);
  decoded.delete(key);
  decoded.set(key, known);
  if (decoded.size > CACHED_BLOCKS) decoded.delete(decoded.keys().next().value);
  return known;
}

// The fields of a point: { name, kind, value }, those without a value left out. A text that is an address is a link.
async function fieldsOf(i) {
  const row = i < OWN ? i : i - OWN;
  const fields = await Promise.all(columnsOf(i).map(async (column) => {
    const values = await blockOf(column, Math.floor(row / column.blockRows));
    const value = values[row % column.blockRows];
    const isLink = column.kind === "text" && /^https?:\/\/\S+$/i.test(value?.trim() ?? "");
    return { name: column.name, kind: isLink ? "link" : column.kind, value };
  }));
  return fields.filter(({ value }) => value !== undefined && value !== "");
}

const numberText = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(7))));
const textOf = ({ kind, value }) => (kind === "number" ? numberText(value) : kind === "image" ? "" : value);
const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1).trimEnd()}…` : text);

// The first text is the title.
function titled(fields) {
  const title = fields.find(({ kind }) => kind === "text");
  return { title, rest: fields.filter((field) => field !== title) };
}

// In the tooltip: the title, and the beginnings of the rest.
const tipFields = element("div", "fields");
tip.append(tipFields);
let asked = -1; // the point whose fields are on their way
extras.tip = async (i) => {
  asked = i;
  tipFields.replaceChildren();
  if (columnsOf(i).length === 0) return;
  const fields = await fieldsOf(i).catch(() => []);
  if (asked !== i || tip.hidden) return;
  const { title, rest } = titled(fields);
  const line = (field) => {
    const text = element("p");
    text.append(element("em", "", `${field.name} `), cut(textOf(field), TIP_TEXT));
    return text;
  };
  const words = rest.filter(({ kind }) => kind !== "image" && kind !== "address" && kind !== "link").slice(0, 4);
  if (title) tipFields.append(element("strong", "", cut(textOf(title), TIP_TEXT)));
  tipFields.append(...words.map(line));
  const picture = rest.find(({ kind }) => kind === "image");
  if (picture) tipFields.append(imageOf(picture));
  placeTip(i);
};

// Images from elsewhere are loaded once the reader has said so: the page itself needs no network.
let mayLoad = false;
const urls = [];
function imageOf(field) {
  const box = element("figure");
  const show = (address, problem) => {
    const image = element("img");
    image.alt = field.name;
    image.addEventListener("load", () => card.hidden || placeCard());
    image.addEventListener("error", () => box.replaceChildren(element("p", "note", problem)));
    image.src = address;
    box.replaceChildren(image);
  };
  if (field.kind === "image") {
    urls.push(URL.createObjectURL(new Blob([field.value], { type: imageType(field.value) })));
    while (urls.length > 20) URL.revokeObjectURL(urls.shift());
    show(urls.at(-1), "this image cannot be shown");
    return box;
  }
  const address = field.value.trim();
  if (!/^https?:/i.test(address)) {
    // Neither javascript: nor any other scheme, but a path beside the page.
    const path = /^[a-z][a-z0-9+.-]*:/i.test(address) && !/^(file|data):/i.test(address) ? `./${address}` : address;
    show(path, `no image was found at ${cut(address, 80)}`);
    return box;
  }
  const load = () => {
    mayLoad = true;
    show(address, `${hostOf(address)} did not give the image: it needs the network`);
  };
  if (mayLoad) {
    load();
  } else {
    const button = element("button", "plain", `Load the image from ${hostOf(address)} (needs the network)`);
    button.type = "button";
    button.addEventListener("click", load);
    box.append(button);
  }
  return box;
}

function hostOf(address) {
  try {
    return new URL(address).host;
  } catch {
    return "the network";
  }
}

// SVG is the one kind that browsers do not tell by its bytes.
function imageType(bytes) {
  const head = new TextDecoder().decode(bytes.subarray(0, 200)).trimStart();
  return head.startsWith("<") ? "image/svg+xml" : "";
}

// The card of a point that was clicked.
const card = $("card");
let carded = -1;
extras.click = (i) => {
  if (i < 0 || columnsOf(i).length === 0) return closeCard();
  showCard(i);
};

async function showCard(i) {
  carded = i;
  const fields = await fieldsOf(i).catch((error) => [{ name: "problem", kind: "text", value: String(error) }]);
  if (carded !== i) return;
  const { title, rest } = titled(fields);
  const close = element("button", "close", "×");
  close.type = "button";
  close.setAttribute("aria-label", "Close the card");
  close.addEventListener("click", () => closeCard(true));
  const facts = [idOf(i), labelOf(i), storyOf(i)].filter((text) => text !== "").join(" · ");
  card.replaceChildren(close, element("h3", "", title ? cut(title.value, 300) : idOf(i)), element("small", "", facts));
  if (title?.value.length > 300) rest.unshift(title);
  const list = element("dl");
  for (const field of rest) list.append(element("dt", "", field.name), described(field));
  card.append(list);
  card.hidden = false;
  card.scrollTop = 0;
  tip.hidden = true;
  placeCard();
}

function described(field) {
  const cell = element("dd");
  if (field.kind === "link") {
    const link = element("a", "", cut(field.value.trim(), 120));
    link.href = field.value.trim();
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    cell.append(link);
  } else if (field.kind === "image" || field.kind === "address") {
    cell.append(imageOf(field));
  } else {
    const text = textOf(field);
    const words = element("span", "text", cut(text, CARD_TEXT));
    cell.append(words);
    if (text.length > CARD_TEXT) {
      const more = element("button", "plain", "Show all");
      more.type = "button";
      more.addEventListener("click", () => {
        const isAll = words.textContent.length === text.length;
        words.textContent = isAll ? cut(text, CARD_TEXT) : text;
        more.textContent = isAll ? "Show all" : "Show less";
        placeCard();
      });
      cell.append(more);
    }
  }
  return cell;
}

function closeCard(back = false) {
  if (card.hidden) return;
  card.hidden = true;
  carded = -1;
  if (back) over.focus();
}

// On the side of the stage where the point is not.
function placeCard() {
  if (carded < 0) return;
  const [x] = camera.place(carded);
  card.classList.toggle("left", x > camera.width / 2);
}

extras.keys = { Escape: () => closeCard(true) };
