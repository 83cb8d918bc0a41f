// Columns for people in the dashboard: in the card of a row, and in the selection.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { makeTable, pause, soon, World } from "./harness.js";

const world = new World();
const MARKUP = "</script><img src=x onerror=alert(1)>";
const rows = makeTable(40).map((row, k) => ({
  ...row,
  shown: { title: `Title ${k} ${MARKUP}`, story: "A long story. ".repeat(60), pages: k + 0.5, link: `https://example.org/${k}` },
}));

before(async () => {
  world.fit(rows, ["--perplexity", "10", "--iterations", "250"]);
  await world.serve();
  await world.launch();
});
after(() => world.end());

/** Finds a row by its id and pins its card. */
async function pinned(page, id) {
  await page.keyboard.press("/");
  await page.keyboard.type(id);
  await page.keyboard.press("Enter");
  const card = page.locator("#card.pinned");
  await card.locator(".shown").waitFor();
  return card;
}

test("the card of a row shows the columns for people and the row's own values", async (t) => {
  const page = await world.open(t);
  const card = await pinned(page, "row-7");
  await soon(async () => assert.equal(await card.locator(".shown strong").innerText(), `Title 7 ${MARKUP}`));
  await soon(async () => assert.equal(await card.locator(".shown img").count(), 0, "texts are no markup"));
  await soon(async () => assert.match(await card.locator(".shown").innerText(), /pages 7.5/));
  const link = card.locator("a");
  await soon(async () => assert.deepEqual([await link.getAttribute("href"), await link.getAttribute("rel")], ["https://example.org/7", "noopener noreferrer"]));
  const values = await card.locator(".values dt").allInnerTexts();
  assert.deepEqual(values, ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"]);
  const story = card.locator(".shown p .text").first();
  const cut = (await story.innerText()).length;
  await world.shot(page, "shown-card-light");
  await card.getByRole("button", { name: "Show all" }).click();
  await soon(async () => assert.ok((await story.innerText()).length > cut + 200));
});

test("the card of a live point has its own values", async (t) => {
  const page = await world.open(t);
  await world.post([{ id: "guest", x: rows[0].x.map((value) => value + 0.01) }]);
  await page.locator("#feed .item", { hasText: "guest" }).first().waitFor(); // the search finds what the page has heard of
  await page.keyboard.press("/");
  await page.keyboard.type("guest");
  await page.keyboard.press("Enter");
  await page.locator("#card.pinned .values dt", { hasText: "d0" }).waitFor();
});

test("the selection has the columns for people, in its table and its CSV", async (t) => {
  const page = await world.open(t, { dark: true });
  const box = await page.locator("#stage").boundingBox();
  const [x, y, reach] = [box.x + box.width / 2, box.y + box.height / 2, Math.min(box.width, box.height) / 2 - 10];
  await page.keyboard.press("l");
  await page.mouse.move(x + reach, y);
  await page.mouse.down();
  for (let k = 1; k <= 30; k++) await page.mouse.move(x + reach * Math.cos((k / 30) * 6.28), y + reach * Math.sin((k / 30) * 6.28));
  await page.mouse.up();
  const table = page.locator("#selection table");
  await table.waitFor();
  await soon(async () => assert.deepEqual((await table.locator("th").allInnerTexts()).slice(5), ["title", "story", "pages", "link"]));
  await table.locator("td", { hasText: /^Title \d+ <\/script>/ }).first().waitFor();
  await world.shot(page, "shown-selection-dark");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()]);
  const lines = readFileSync(await saved.path(), "utf8").trimEnd().split("\r\n");
  assert.equal(lines[0], "source,id,label,cluster,verdict,score,group,x,y,t,title,story,pages,link");
  const line = lines.find((text) => text.startsWith("map,row-")) ?? "";
  const k = /^map,row-(\d+),/.exec(line)?.[1];
  assert.ok(line.includes(`,Title ${k} ${MARKUP},`) && line.endsWith(`,${Number(k) + 0.5},https://example.org/${k}`), line);
  await pause(10);
});

test("on a phone the card fits", async (t) => {
  const page = await world.open(t, { width: 390, height: 780 });
  const card = await pinned(page, "row-7");
  const [inner, outer] = await Promise.all([card, page.locator("body")].map((part) => part.boundingBox()));
  assert.ok(inner.x >= 0 && inner.x + inner.width <= outer.width + 1);
  await world.shot(page, "shown-card-phone");
});
