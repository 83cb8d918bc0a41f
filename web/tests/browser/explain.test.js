// What clusters and selections are, in the dashboard: names on the map and in the legend, and a summary beside the table.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeTable, settle, soon, World } from "./harness.js";

const world = new World();
const TOPICS = ["the moon and its orbit", "a goal of the team", "butter in the oven"];
const rows = makeTable(60).map(({ id, x }, k) => ({ id, x, shown: { text: `${TOPICS[k % 3]} of ${["many", "some", "few"][k % 7 % 3]} ${k}` } }));

before(async () => {
  world.fit(rows, ["--perplexity", "15", "--iterations", "400"]);
  await world.serve();
  await world.launch();
});
after(() => world.end());

const legend = (page) => page.locator("#legend .class span");

test("clusters are named by what sets them apart, and a title that a person gives wins", async (t) => {
  const page = await world.open(t);
  await legend(page).filter({ hasText: "moon" }).first().waitFor();
  const names = await legend(page).allInnerTexts();
  for (const word of ["moon", "goal", "butter"]) assert.ok(names.some((name) => name.includes(word)), `${word} in ${names}`);
  await world.shot(page, "explain-names-light");
  const line = page.locator("#legend li").filter({ hasText: "moon" }).first();
  await line.hover();
  await line.getByRole("button", { name: /^Rename/ }).click();
  await page.locator("form.rename input").first().fill("Astronomy");
  await page.keyboard.press("Enter");
  await legend(page).filter({ hasText: "Astronomy" }).waitFor();
  const again = await world.open(t);
  await legend(again).filter({ hasText: "Astronomy" }).waitFor();
  await legend(again).filter({ hasText: "goal" }).first().waitFor();
});

/** Draws around the middle of the stage, or a part of it. */
async function lasso(page, share = 0.98) {
  const box = await page.locator("#stage").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const [dx, dy] = [(box.width / 2 - 4) * share, (box.height / 2 - 4) * share];
  await page.keyboard.press("l");
  await page.mouse.move(x, y - dy);
  await page.mouse.down();
  for (const [a, b] of [[1, -1], [1, 1], [0, 1], [0, -1]]) await page.mouse.move(x + a * dx, y + b * dy, { steps: 5 });
  await page.mouse.up();
  await settle(page);
}

test("a lasso says what sets the points apart, as the server tells it, live points too", async (t) => {
  await world.post(rows.slice(0, 30).map(({ x }, k) => ({ id: `live-${k}`, x: x.map((value) => value + 0.01) })));
  const page = await world.open(t, { dark: true });
  const asked = page.waitForRequest((request) => request.method() === "POST" && request.url().includes("/api/explain"));
  await lasso(page);
  const body = (await asked).postDataJSON();
  assert.ok(body.rows.length > 0 && body.rows.length < rows.length && body.ids.length > 0, JSON.stringify(body).slice(0, 200));
  const summary = page.locator("#selection .summary");
  await summary.locator(".effects").waitFor();
  const wanted = await (await fetch(`${world.url}/api/explain`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json();
  assert.equal(wanted.size, body.rows.length + body.ids.length);
  await soon(async () => assert.match(await summary.locator("h3").innerText(), new RegExp(`these ${wanted.size} points`)));
  await soon(async () => assert.deepEqual(await summary.locator(".effects dt").allInnerTexts(), wanted.columns.map(({ column }) => column)));
  await soon(async () => assert.deepEqual(await summary.locator(".keywords span").allInnerTexts(), wanted.keywords));
  const effect = ({ effect: e, error }) => `${e < 0 ? "−" : "+"}${Math.abs(e).toFixed(2)} ± ${error.toFixed(2)}`;
  await soon(async () => assert.deepEqual(await summary.locator(".effect").allInnerTexts(), wanted.columns.map(effect)));
  await world.shot(page, "explain-selection-dark");
  await page.locator("#selection").getByRole("button", { name: "Clear" }).click();
  await soon(async () => assert.ok(await summary.isHidden()));
});

test("on a phone the summary fits", async (t) => {
  const page = await world.open(t, { width: 390, height: 780 });
  await lasso(page);
  await page.locator("#selection .summary .effects").waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide} pixels wide`);
  await page.locator("#selection .summary").scrollIntoViewIfNeeded();
  await world.shot(page, "explain-selection-phone");
});
