// Cards, colours to choose and selections, in a real browser. How to run it is written in page.test.js.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { PHONE, goTo, open, settle, shot } from "./harness.js";

const LARGE = join(resolve(process.env.PAGES ?? "pages"), "cards-large.html");

// Clicks a point that was gone to, and waits for its card.
async function card(page, id) {
  const [x, y] = await goTo(page, id);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.up();
  await page.locator("#card:not([hidden])").waitFor();
  return page.locator("#card");
}

test("hovering shows the title and the beginnings of texts, and markup in them is text", async (t) => {
  const page = await open(t, "cards");
  const [x, y] = await goTo(page, "row-00012");
  await page.mouse.move(x, y);
  await page.locator("#tip .fields strong").waitFor();
  assert.equal(await page.locator("#tip strong").textContent(), "Title 12 </script><img src=x onerror=alert(4)>");
  assert.match(await page.locator("#tip .fields").textContent(), /year 2002.5/);
  assert.ok((await page.locator("#tip").textContent()).length < 600, "long texts are cut");
  assert.equal(await page.locator("#tip img").count(), 1, "an image that is in the page is shown");
  const [tip, stage] = await Promise.all(["#tip", "#stage"].map((id) => page.locator(id).boundingBox()));
  assert.ok(tip.x >= stage.x && tip.x + tip.width <= stage.x + stage.width);
  assert.ok(tip.y >= stage.y && tip.y + tip.height <= stage.y + stage.height);
  await shot(page, "cards-hover");
});

test("a card tells all: long texts when asked, links, images, and what would need the network", async (t) => {
  const page = await open(t, "cards");
  const box = await card(page, "row-00010");
  assert.equal(await box.locator("h3").textContent(), "Title 10 </script><img src=x onerror=alert(4)>");
  const words = box.locator("dd .text").first();
  const cut = (await words.textContent()).length;
  assert.ok(cut <= 600, `${cut} letters`);
  await shot(page, "cards-card");
  await box.getByRole("button", { name: "Show all" }).click();
  assert.ok((await words.textContent()).length > cut + 100);
  const link = box.locator("a");
  assert.equal(await link.getAttribute("href"), "https://example.org/10");
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
  await page.waitForFunction(() => document.querySelector("#card img")?.naturalWidth > 0);
  // The address of an image is not called until one asks for it: the harness would complain.
  assert.ok(await box.getByRole("button", { name: "Load the image from example.org (needs the network)" }).isVisible());
  await page.keyboard.press("Escape");
  assert.ok(await box.isHidden());
  // Missing values are left out: row 3 has no year, row 9 no text, row 11 no photo.
  assert.doesNotMatch(await (await card(page, "row-00003")).textContent(), /year/);
  assert.doesNotMatch(await (await card(page, "row-00009")).locator("dl").textContent(), /^text/);
  await box.getByRole("button", { name: "Close the card" }).click();
  assert.ok(await box.isHidden());
});

test("the reader chooses what to colour by", async (t) => {
  const page = await open(t, "cards");
  const choice = page.locator("#colour-by");
  assert.deepEqual(await choice.locator("option").allTextContents(), ["digit", "year", "length"]);
  assert.equal(await page.locator(".class").count(), 10);
  const picture = async () => {
    await settle(page);
    return createHash("sha256").update(await page.locator("#stage").screenshot()).digest("hex");
  };
  const digits = await picture();
  await choice.selectOption({ label: "year" });
  const bar = page.locator(".bar");
  await bar.waitFor();
  assert.deepEqual(await bar.locator("span").allTextContents(), ["2030", "2010", "1990"]);
  assert.match(await page.locator("#legend").textContent(), /without a value, in grey/);
  assert.notEqual(await picture(), digits);
  await shot(page, "cards-years");
  await choice.selectOption({ label: "length" });
  assert.deepEqual(await page.locator(".class span").allTextContents(), ["</script>", "long", "short"]);
  // Hiding works for the colours that are chosen.
  await page.locator(".class").first().click();
  assert.equal(await page.locator(".class").first().getAttribute("aria-pressed"), "false");
  await choice.selectOption({ label: "digit" });
  await page.mouse.move(5, 5);
  await choice.blur();
  assert.equal(await picture(), digits);
});

async function lasso(page) {
  const box = await page.locator("#over").boundingBox();
  const at = (x, y) => [box.x + box.width * x, box.y + box.height * y];
  await page.mouse.move(...at(0.25, 0.25));
  await page.mouse.down();
  for (const [x, y] of [[0.7, 0.25], [0.7, 0.7], [0.25, 0.7]]) await page.mouse.move(...at(x, y), { steps: 4 });
  await page.mouse.up();
  await settle(page);
}

test("a line around points selects them: a table, a file, and a place for what they have in common", async (t) => {
  const page = await open(t, "cards");
  await page.keyboard.down("Shift");
  await lasso(page);
  await page.keyboard.up("Shift");
  const panel = page.locator("#selection");
  await panel.locator("tbody tr").first().waitFor();
  const heading = await panel.locator("h2").textContent();
  const count = Number(/^([\d,]+) rows selected$/.exec(heading)[1].replace(",", ""));
  assert.ok(count > 20 && count < 600, heading);
  assert.deepEqual(await panel.locator("th").allTextContents(), ["id", "digit", "title", "text", "year", "url", "photo", "poster"]);
  assert.equal(await panel.locator("tbody tr").count(), Math.min(count, 100));
  assert.equal(await panel.locator("#selection-summary").count(), 1);
  const [download] = await Promise.all([
    page.waitForEvent("download"), panel.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  const lines = readFileSync(await download.path(), "utf8").trim().split("\r\n");
  assert.equal(lines[0], "id,digit,title,text,year,url,photo,poster");
  assert.equal(lines.length, count + 1);
  assert.match(lines[1], /^row-\d{5},\d,Title \d+ <\/script>/);
  await shot(page, "cards-selection");
  await panel.getByRole("button", { name: "Clear" }).click();
  assert.ok(await panel.isHidden());
});

test("points are selected with the button, and from the keyboard", async (t) => {
  const page = await open(t, "cards");
  const button = page.getByRole("button", { name: "Select" });
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  await lasso(page);
  assert.ok(await page.locator("#selection").isVisible());
  assert.equal(await button.getAttribute("aria-pressed"), "false");
  await page.locator("#over").focus();
  for (let k = 0; k < 3; k++) await page.keyboard.press("+");
  await page.keyboard.press("v");
  const near = await page.locator("#selection h2").textContent();
  await page.keyboard.press("0");
  await page.keyboard.press("v");
  assert.equal(await page.locator("#selection h2").textContent(), "600 rows selected");
  assert.notEqual(near, "600 rows selected");
});

test("60000 texts: a page below 15 MB that paints soon, and any card at once", async (t) => {
  const size = statSync(LARGE).size;
  assert.ok(size < 15e6, `${size} bytes`);
  const page = await open(t, "cards-large");
  const painted = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  const ready = await page.evaluate(() => performance.now());
  t.diagnostic(`${(size / 1e6).toFixed(1)} MB, first paint after ${Math.round(painted)} ms, all there before ${Math.round(ready)} ms`);
  // Generous, because tests run beside others.
  assert.ok(painted < 20_000, `${painted} ms`);
  const box = await card(page, "row-59998");
  assert.match(await box.locator("h3").textContent(), /^Title 59998 /);
});

for (const [name, options] of [["dark", { dark: true }], ["phone", { viewport: PHONE, touch: true }]]) {
  test(`cards and selections fit, ${name}`, async (t) => {
    const page = await open(t, "cards", options);
    const box = await card(page, "row-00010");
    const [inner, outer] = await Promise.all([box, page.locator("#stage")].map((part) => part.boundingBox()));
    assert.ok(inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width);
    assert.ok(inner.y >= outer.y && inner.y + inner.height <= outer.y + outer.height + 1);
    await shot(page, `cards-${name}`);
    await page.keyboard.press("Escape");
    await page.locator("#reset").click();
    await page.locator("#over").focus();
    await page.keyboard.press("v");
    await page.locator("#selection tbody tr").first().waitFor();
    await shot(page, `cards-selection-${name}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    assert.ok(wide, "nothing scrolls sideways");
  });
}

test("far outliers leave the picture to the map, and labels of placed points alone stand apart", async (t) => {
  const page = await open(t, "far");
  const words = await page.locator("#legend").textContent();
  assert.match(words, /beyond the dashed line [\d.]+ times nearer/);
  assert.match(words, /labels that the map does not have/);
  await shot(page, "far");
});
