// What selected points have in common: the page's own numbers against those of lion explain --select. How to run it is written
// in page.test.js; LION names the program.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { PHONE, goTo, openFile, settle, shot } from "./harness.js";

const LION = resolve(process.env.LION ?? "../../../../target/release/lion");
const folder = mkdtempSync(join(tmpdir(), "lion-summary-"));
const lion = (...args) => execFileSync(LION, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
after(() => rmSync(folder, { recursive: true }));

// The functions of the page that know no page.
const asset = (name) => readFileSync(new URL(`../../assets/${name}.js`, import.meta.url), "utf8");
const { Corpus, eachWord, effectsOf, keywordsOf } = new Function(
  `${asset("words")}${asset("contrast")}; return { Corpus, eachWord, effectsOf, keywordsOf };`,
)();

// Customers of three kinds, with gaps, a date, a boolean, categories of two and more values, and texts.
const TEXTS = ["quick delivery, friendly staff", "late parcel in a broken box; the cars' boxes", "asked for a refund of the fee 東京は"];
const PLANS = ["basic", "premium", "family"];
const customers = Array.from({ length: 600 }, (_, row) => {
  const kind = row % 3;
  const wave = (row * 7919 % 997) / 997;
  return {
    name: `c${row}`,
    age: row % 17 === 0 ? "" : (20 + 20 * kind + 9 * wave).toFixed(1),
    income: (20000 * (1 + kind * kind) * (0.8 + 0.4 * wave) + (row === 7 ? 4e6 : 0)).toFixed(2),
    visits: Math.round(5 + 30 * (kind === 1) + 6 * wave),
    plan: row % 5 === 0 ? "basic" : PLANS[kind],
    active: String(row % 4 !== kind),
    since: new Date(Date.UTC(2015 + 3 * kind, 0, 1 + (row * 31) % 700)).toISOString().slice(0, 10),
    review: row % 11 === 0 ? "" : `${TEXTS[kind]} no ${row % 50} of ${["many", "some", "few"][row % 7 % 3]}`,
  };
});

before(() => {
  const names = Object.keys(customers[0]);
  const cell = (value) => (/[",]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  writeFileSync(join(folder, "c.csv"), [names, ...customers.map((row) => names.map((name) => cell(String(row[name]))))].map((cells) => cells.join(",")).join("\n") + "\n");
  lion("fit", "c.csv", "--id", "name", "--show", "review", "--perplexity", "15", "--iterations", "300", "-o", "c.lion", "--page", "c.html");
});

// What lion explain says of the rows with these ids.
function explained(ids) {
  writeFileSync(join(folder, "ids.txt"), ids.join("\n"));
  return JSON.parse(lion("explain", "c.lion", "--select", "ids.txt", "--json")).clusters[0];
}

const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 2e-5 * Math.max(1, Math.abs(b)), `${what}: ${a} and ${b}`);

test("effects and keywords are those of lion explain", async (t) => {
  const page = await openFile(t, join(folder, "c.html"));
  const packed = await page.evaluate(() => ({ data: document.getElementById("data").textContent, cards: document.getElementById("cards").textContent }));
  const data = JSON.parse(packed.data);
  const columns = await Promise.all(data.compared.columns.map((column) => unpacked(column, packed.cards, data.n)));
  const corpus = new Corpus();
  for (const id of data.ids) corpus.add(customers[Number(id.slice(1))].review);
  assert.equal(data.compared.text, "review");
  const selections = [
    (row) => row % 3 === 0, (row) => row % 3 === 1 && row < 200, (row) => row < 30, (row) => row === 7 || row === 8,
    (row) => row % 2 === 0, (row) => row % 3 === 2 || row < 5,
  ];
  for (const [at, isChosen] of selections.entries()) {
    const rows = data.ids.flatMap((id, row) => (isChosen(Number(id.slice(1))) ? [row] : []));
    const wanted = explained(rows.map((row) => data.ids[row]));
    const effects = effectsOf(columns, rows);
    assert.deepEqual(effects.map(({ column, kind, value }) => [column, kind, value]), wanted.columns.map(({ column, kind, value }) => [column, kind, value]), `selection ${at}`);
    for (const [k, found] of effects.entries()) {
      for (const part of ["effect", "error", "inside", "outside", "difference"]) near(found[part], wanted.columns[k][part], `selection ${at}, ${found.column} ${part}`);
    }
    const keywords = keywordsOf(corpus, rows);
    assert.deepEqual(keywords.map(({ word }) => word), wanted.keywords, `selection ${at}`);
    for (const [k, found] of keywords.entries()) {
      for (const part of ["share", "share_outside", "error", "score"]) near(found[part], wanted.keyword_shares[k][part], `${found.word} ${part}`);
    }
  }
});

async function unpacked(column, text, rows) {
  const bytes = Buffer.from(text.slice(...column.block), "base64");
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const plain = await new Response(stream).arrayBuffer();
  const levels = column.kind === "category" ? [] : new Float32Array(plain, 0, column.levels);
  const planes = new Uint8Array(plain, 4 * levels.length);
  const codes = Array.from({ length: rows }, (_, row) => {
    let code = 0;
    for (let byte = column.bytes - 1; byte >= 0; byte--) code = code * 256 + planes[byte * rows + row];
    return code;
  });
  return { ...column, levels, codes };
}

test("words are those of lion explain, in many scripts", () => {
  const words = (text) => {
    const found = [];
    eachWord(text, (word) => found.push(word));
    return found;
  };
  // The same as in the test of lion-tsne.
  assert.deepEqual(words("The CPU's 2 GHz, x86-64; a 42!"), ["the", "cpu's", "ghz", "x86"]);
  assert.deepEqual(words("l\u2019été 'quoted' naïve"), ["l'été", "quoted", "naïve"]);
  assert.deepEqual(words("Straße ΣΊΣΥΦΟΣ Москва"), ["straße", "σίσυφοσ", "москва"]);
  assert.deepEqual(words("हिन्दी में लिखा।"), ["हिन्दी", "में", "लिखा"]);
  assert.deepEqual(words("東京は大きい"), ["東京", "京は", "は大", "大き"]);
  assert.deepEqual(words("한국어 문장 e\u0301te\u0301"), ["한국어", "문장", "e\u0301te\u0301"]);
});

// Draws a line around a part of the stage.
async function lasso(page, [left, top, right, bottom]) {
  const box = await page.locator("#over").boundingBox();
  const at = (x, y) => [box.x + x * box.width, box.y + y * box.height];
  await page.getByRole("button", { name: "Select" }).click();
  await page.mouse.move(...at(left, top));
  await page.mouse.down();
  for (const corner of [[right, top], [right, bottom], [left, bottom], [left, top]]) await page.mouse.move(...at(...corner), { steps: 4 });
  await page.mouse.up();
  await settle(page);
}

test("a line around points says what they have in common, beside their table", async (t) => {
  const page = await openFile(t, join(folder, "c.html"));
  await lasso(page, [0.02, 0.02, 0.55, 0.98]);
  const summary = page.locator("#selection-summary");
  await summary.locator(".effects, .hint").first().waitFor();
  await page.waitForFunction(() => !document.getElementById("selection-summary").textContent.includes("…"));
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download CSV" }).click()]);
  const ids = readFileSync(await download.path(), "utf8").trim().split("\r\n").slice(1).map((line) => line.split(",")[0]);
  const wanted = explained(ids);
  assert.match(await summary.locator("h3").textContent(), new RegExp(`these ${ids.length} rows`));
  assert.deepEqual(await summary.locator(".effects th").allTextContents(), wanted.columns.map(({ column }) => column));
  const effect = ({ effect: e, error }) => `${e < 0 ? "−" : "+"}${Math.abs(e).toFixed(2)} ± ${error.toFixed(2)}`;
  assert.deepEqual(await summary.locator(".effect").allTextContents(), wanted.columns.map(effect));
  assert.deepEqual(await summary.locator(".keywords span").allTextContents(), wanted.keywords);
  const [left, right] = await Promise.all(["#selection-summary", "#selection .rows"].map((part) => page.locator(part).boundingBox()));
  assert.ok(left.x + left.width <= right.x + 1, "beside the table");
  await shot(page, "summary");
  await page.getByRole("button", { name: "Clear" }).click();
  assert.ok(await summary.isHidden());
});

test("on a phone the summary lies above the table", async (t) => {
  const page = await openFile(t, join(folder, "c.html"), { viewport: PHONE, dark: true });
  await lasso(page, [0.02, 0.02, 0.98, 0.5]);
  await page.locator("#selection-summary .effects").waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= PHONE.width, `${wide} pixels wide`);
  await shot(page, "summary-phone");
});

// Presses all over the stage until a name is hit, and says where.
async function pressName(page) {
  const box = await page.locator("#over").boundingBox();
  for (let y = 20; y < box.height - 20; y += 12) {
    for (let x = 20; x < box.width - 20; x += 40) {
      await page.mouse.click(box.x + x, box.y + y);
      if (await page.locator(".about").isVisible()) return [box.x + x, box.y + y];
    }
  }
  return null;
}

test("a click on the name of a cluster tells of the cluster alone, and one on a point of the point", async (t) => {
  const page = await openFile(t, join(folder, "c.html"));
  const at = await pressName(page);
  assert.ok(at, "a name was pressed");
  // All along it, some points lie under it.
  for (let aside = -80; aside <= 80; aside += 8) {
    await page.mouse.click(at[0] + aside, at[1]);
    await page.waitForTimeout(60); // a card would come after its block is unpacked
    assert.ok((await page.locator(".about").isHidden()) || (await page.locator("#card").isHidden()), `two cards, ${aside} pixels aside`);
  }
  await page.mouse.click(...at);
  await shot(page, "cluster-name");
  // A hand that trembles still clicks, one that drags does not.
  await page.locator(".about .close").click();
  await page.mouse.move(...at);
  await page.mouse.down();
  await page.mouse.move(at[0] + 2, at[1] + 1);
  await page.mouse.up();
  assert.ok(await page.locator(".about").isVisible());
  const [x, y] = await goTo(page, "c12");
  await page.mouse.click(x, y);
  await page.locator("#card:not([hidden])").waitFor();
  assert.ok(await page.locator(".about").isHidden(), "the card of a point takes its place");
});

test("many selected points keep their colours, and the others fade", async (t) => {
  const page = await openFile(t, join(folder, "c.html"));
  const picture = async () => (await page.locator("#stage").screenshot()).toString("base64");
  const before = await picture();
  await page.evaluate(() => {
    window.arcs = 0;
    const { arc } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.arc = function (...args) {
      window.arcs++;
      return arc.apply(this, args);
    };
  });
  await lasso(page, [0.02, 0.02, 0.7, 0.98]);
  const count = Number(/^\d+/.exec(await page.locator("#selection h2").textContent())[0]);
  assert.ok(count > 300 && count < customers.length, `${count} rows`);
  assert.ok(await page.evaluate(() => window.arcs) < 300, "no ring for each");
  await page.getByRole("button", { name: "Clear" }).click();
  await page.mouse.move(5, 5);
  await settle(page);
  assert.ok(await picture() === before, "all is as before");
});
