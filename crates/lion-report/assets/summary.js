// What selected points have in common, against the rest: beside their table.

// Lets the page draw and answer, if it could not for so many milliseconds.
const BUSY = 20;
let answered = 0; // when it last could
async function breathe() {
  if (performance.now() - answered < BUSY) return;
  await new Promise((next) => setTimeout(next));
  answered = performance.now();
}

// The columns to compare by, unpacked when points are first selected: one after another, as all at once would hold up the page.
let comparedColumns = null;
const unpackedColumns = () =>
  (comparedColumns ??= (async () => {
    const columns = [];
    for (const column of data.compared?.columns ?? []) {
      await breathe();
      const bytes = await inflated(...column.block);
      const count = column.kind === "category" ? 0 : column.levels;
      const levels = new Float32Array(bytes, 0, count);
      const planes = new Uint8Array(bytes, 4 * count);
      const codes = new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[column.bytes](OWN);
      for (let byte = column.bytes - 1; byte >= 0; byte--) {
        for (let row = 0; row < OWN; row++) codes[row] = codes[row] * 256 + planes[byte * OWN + row];
      }
      columns.push({ ...column, levels, codes });
    }
    return columns;
  })());

// The words of the column of texts.
let wordsOfTexts = null;
function textCorpus() {
  const column = data.cards.own.find(({ name, kind }) => name === data.compared?.text && kind === "text");
  if (!column) return null;
  wordsOfTexts ??= (async () => {
    const corpus = new Corpus();
    for (let block = 0; block < column.ends.length; block++) {
      for (const text of await decodeBlock(column, block)) {
        corpus.add(text ?? "");
        if (corpus.rows % 50 === 0) await breathe();
      }
    }
    return corpus;
  })();
  return wordsOfTexts;
}

extras.summary = async (members, box) => {
  const rows = members.filter((i) => i < OWN);
  const others = OWN - rows.length;
  if (!data.compared || rows.length === 0 || others === 0) return (box.hidden = true);
  const [count, rest] = [rows.length, others].map((n) => n.toLocaleString("en"));
  const say = (...parts) => isNow() && box.replaceChildren(heading, ...parts);
  const isNow = () => selected === members;
  const heading = element("h3", "", `What sets ${rows.length === 1 ? "this row" : `these ${count} rows`} apart from the other ${rest}`);
  const wait = element("p", "hint", "Reading the texts…");
  say(element("p", "hint", "Comparing the columns…"));
  const effects = effectsOf(await unpackedColumns(), rows);
  const parts = effects.length ? [effectTable(effects)] : [];
  const notes = [];
  if (members.length > rows.length) notes.push("Placed rows are not compared.");
  if (data.compared.leftOut > 0) notes.push(`${data.compared.leftOut.toLocaleString("en")} more columns are not in this page; lion serve and lion explain --select compare all.`);
  const texts = textCorpus();
  if (texts) {
    say(...parts, wait);
    const keywords = keywordsOf(await texts, rows);
    if (keywords.length) parts.unshift(keywordLine(keywords));
  }
  if (parts.length === 0) parts.push(element("p", "hint", "Nothing that the map knows sets them apart."));
  say(...parts, ...notes.map((note) => element("p", "hint", note)));
};

// Each word with how often it occurs.
function keywordLine(keywords) {
  const line = element("p", "keywords");
  for (const { word, share, share_outside: outside } of keywords) {
    const item = element("span", "", word);
    item.title = `in ${inPercent(share)} of these texts, ${inPercent(outside)} of the others`;
    line.append(item, " ");
  }
  return line;
}
