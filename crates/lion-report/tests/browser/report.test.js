// Opens a report in a real browser, offline, on a wide screen, on a phone, in the dark and on paper, and looks for
// whatever a reader would stumble over.
//
// Needs what page.test.js needs. Takes any report that lion-report wrote:
//   REPORT=path/to/report.html node --test report.test.js         (screenshots go to its folder, in shots/)
// Without REPORT it looks at PAGES/report/report.html, which the example `report` writes:
//   cargo run --release -p lion-report --example report -- DIR/report
//   PAGES=DIR node --test

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const REPORT = resolve(process.env.REPORT ?? join(process.env.PAGES ?? "pages", "report", "report.html"));
const SHOTS = join(dirname(REPORT), "shots");
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 360, height: 740 };
const A4 = { width: 688, height: 1001 }; // what the margins leave of a sheet, in CSS pixels

let browser;
before(async () => {
  mkdirSync(SHOTS, { recursive: true });
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, headless: true, args: FLAGS });
});
after(() => browser?.close());

// Opens the report and fails the test if it complains, or asks for anything but itself.
async function open(t, { viewport = DESKTOP, dark = false, scripts = true, media = "screen" } = {}) {
  const context = await browser.newContext({
    viewport, colorScheme: dark ? "dark" : "light", javaScriptEnabled: scripts, hasTouch: viewport === PHONE,
  });
  await context.setOffline(true);
  const page = await context.newPage();
  await page.emulateMedia({ media, colorScheme: dark ? "dark" : "light" });
  const complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => { complaints.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  page.on("requestfailed", (request) => complaints.push(`failed ${request.url().slice(0, 200)}`));
  const self = pathToFileURL(REPORT).href;
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("data:") && url.split("#")[0] !== self) complaints.push(`request ${url}`);
  });
  await page.goto(self);
  t.after(async () => {
    await context.close();
    assert.deepEqual(complaints, []);
  });
  return page;
}

// What is wrong with the page as it stands now; nothing, one hopes.
const faults = (page) => page.evaluate(() => {
  const found = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    found.push(`the page is ${root.scrollWidth} px wide in a window of ${root.clientWidth}`);
    const boxed = (element) => element.parentElement?.closest(".scroll, svg");
    const wide = [...document.body.querySelectorAll("*")].filter((element) =>
      !boxed(element) && element.getBoundingClientRect().right > root.clientWidth + 1);
    found.push(...wide.slice(0, 5).map((element) => `too wide: ${element.outerHTML.slice(0, 120)}`));
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
  if (twice.length) found.push(`ids that are there twice: ${[...new Set(twice)].slice(0, 5)}`);
  for (const figure of document.querySelectorAll("figure:not(.table)")) {
    const drawings = [...figure.querySelectorAll("svg.drawing, img.drawing")];
    if (!drawings.length) found.push(`${figure.id} has no picture`);
    for (const drawing of drawings) {
      const { width, height } = drawing.getBoundingClientRect();
      if (width < 60 || height < 40) found.push(`a picture of ${figure.id} is ${width} x ${height}`);
      if (drawing.tagName === "IMG" && !drawing.naturalWidth) found.push(`a picture of ${figure.id} is broken`);
      if (drawing.tagName === "svg" && !drawing.querySelector("path, rect, circle, text, image")) {
        found.push(`a picture of ${figure.id} is empty`);
      }
    }
    const told = figure.querySelector('[role="img"][aria-label]')?.getAttribute("aria-label") ?? figure.querySelector("img[alt]")?.alt;
    if (!told) found.push(`${figure.id} has no words for those who do not see it`);
    if (!figure.querySelector("figcaption")?.textContent.trim()) found.push(`${figure.id} has no caption`);
  }
  return found;
});

// Images inside pictures are drawn by the browser, or not, without a word: ask it to decode each.
const brokenImages = (page) => page.evaluate(async () => {
  const sources = [...document.querySelectorAll("svg image")].map((image) => image.getAttribute("href"));
  const broken = [];
  for (const source of sources) {
    const image = new Image();
    image.src = source;
    await image.decode().catch(() => broken.push(source.slice(0, 60)));
  }
  return { broken, count: sources.length };
});

const shot = (page, name) => page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });

// What is seen at once, one screen after the other: a page of thirty screens is too long for one picture.
async function screens(page, name, most = 40) {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  const step = page.viewportSize().height - 60;
  for (let top = 0, number = 1; top < height && number <= most; top += step, number++) {
    await page.evaluate((top) => scrollTo(0, top), top);
    await page.screenshot({ path: join(SHOTS, `${name}-${String(number).padStart(2, "0")}.png`) });
  }
  await page.evaluate(() => scrollTo(0, 0));
}

test("on a wide screen nothing is amiss", async (t) => {
  const page = await open(t);
  assert.deepEqual(await faults(page), []);
  assert.deepEqual((await brokenImages(page)).broken, []);
  assert.ok(await page.locator("nav.side").isVisible());
  assert.ok(!(await page.locator("details.top").isVisible()));
  assert.ok((await page.locator("figure").count()) > 0, "no figure at all");
  await screens(page, "wide");
});

test("on a phone nothing is amiss, and the contents are folded", async (t) => {
  const page = await open(t, { viewport: PHONE });
  assert.deepEqual(await faults(page), []);
  assert.ok(!(await page.locator("nav.side").isVisible()));
  const contents = page.locator("details.top");
  assert.ok(await contents.isVisible());
  assert.ok(!(await contents.locator("a").first().isVisible()));
  await contents.locator("summary").click();
  await page.screenshot({ path: join(SHOTS, "phone-contents.png") });
  const link = contents.locator("a").last();
  const id = (await link.getAttribute("href")).slice(1);
  await link.click();
  await page.waitForFunction(() => !document.querySelector("details.top").open);
  await page.waitForFunction((id) => document.getElementById(id).getBoundingClientRect().top < innerHeight, id);
  await page.evaluate(() => scrollTo(0, 0));
  await screens(page, "phone");
});

test("in the dark the figures stay on white paper", async (t) => {
  const page = await open(t, { dark: true });
  assert.deepEqual(await faults(page), []);
  const colours = await page.evaluate(() => ({
    page: getComputedStyle(document.body).backgroundColor,
    papers: [...new Set([...document.querySelectorAll(".paper")].map((paper) => getComputedStyle(paper).backgroundColor))],
  }));
  assert.deepEqual(colours.papers, ["rgb(255, 255, 255)"]);
  assert.notEqual(colours.page, "rgb(255, 255, 255)");
  await screens(page, "dark", 6);
});

test("on paper nothing is cut off and the contents are left out", async (t) => {
  const page = await open(t, { viewport: A4, media: "print" });
  assert.deepEqual(await faults(page), []);
  assert.ok(!(await page.locator("nav.side").isVisible()));
  assert.ok(!(await page.locator("details.top").isVisible()));
  const cut = await page.evaluate(() => [...document.querySelectorAll("table, .drawing")]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
    .map((element) => `${element.closest("figure").id} ends at ${element.getBoundingClientRect().right} of ${innerWidth}`));
  assert.deepEqual(cut, []);
  const tall = await page.evaluate((sheet) => [...document.querySelectorAll(".drawing")]
    .filter((element) => element.getBoundingClientRect().height > sheet)
    .map((element) => element.closest("figure").id), A4.height);
  assert.deepEqual(tall, []);
  await shot(page, "print");
  const pdf = await page.pdf({ format: "A4", preferCSSPageSize: true, printBackground: true });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  writeFileSync(join(SHOTS, "print.pdf"), pdf);
});

test("every heading can be reached from the contents", async (t) => {
  const page = await open(t);
  const ids = await page.evaluate(() => [...document.querySelectorAll("main :is(h2, h3)")].map((heading) => heading.id));
  const links = await page.evaluate(() => [...document.querySelectorAll("nav.side a")].map((link) => link.hash.slice(1)));
  assert.deepEqual(links, ids);
  for (const id of ids) {
    await page.locator(`nav.side a[href="#${id}"]`).click();
    assert.equal(new URL(page.url()).hash, `#${id}`);
    await page.waitForFunction((id) => {
      const { top, bottom } = document.getElementById(id).getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    }, id);
  }
});

test("the keyboard reaches the contents, the heads of the tables and what scrolls", async (t) => {
  const page = await open(t, { viewport: PHONE });
  const wanted = await page.evaluate(() => {
    const scrolling = [...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth + 1);
    scrolling.forEach((box, at) => { box.dataset.wanted = `box ${at}`; });
    const heads = [...document.querySelectorAll("th button")];
    heads.forEach((head, at) => { head.dataset.wanted = `head ${at}`; });
    document.querySelector("details.top summary").dataset.wanted = "contents";
    return [...document.querySelectorAll("[data-wanted]")].map((element) => element.dataset.wanted);
  });
  const reached = new Set();
  for (let presses = 0; presses < 3 * wanted.length + 30 && reached.size < wanted.length; presses++) {
    await page.keyboard.press("Tab");
    const name = await page.evaluate(() => document.activeElement?.dataset?.wanted);
    if (name) reached.add(name);
  }
  assert.deepEqual(wanted.filter((name) => !reached.has(name)), []);
});

test("a click on a head sorts the table, and two more bring its order back", async (t) => {
  const page = await open(t);
  for (const table of await page.locator("table").all()) {
    const column = await table.evaluate((table) => {
      const heads = [...table.tHead.querySelectorAll('th[scope="col"]')];
      const head = heads.find((head) => head.classList.contains("number"));
      head?.setAttribute("data-chosen", "");
      return head ? heads.filter((other) => other.offsetLeft < head.offsetLeft).length : -1;
    });
    if (column < 0) continue;
    const values = () => table.evaluate((table, column) =>
      [...table.tBodies[0].rows].map((row) => row.cells[column].dataset.value ?? null), column);
    const given = await values();
    const button = table.locator("[data-chosen] button");
    for (const sign of [-1, 1]) {
      await button.click();
      const sorted = await values();
      const numbers = sorted.filter((value) => value !== null).map(Number);
      assert.deepEqual(numbers, [...numbers].sort((a, b) => sign * (a - b)));
      assert.deepEqual(sorted.slice(numbers.length), Array(sorted.length - numbers.length).fill(null));
    }
    await button.click();
    assert.deepEqual(await values(), given);
  }
});

test("without scripts it is all there", async (t) => {
  const page = await open(t, { scripts: false });
  const text = await page.locator("main").innerText();
  for (const heading of await page.locator("main :is(h2, h3)").allInnerTexts()) assert.ok(text.includes(heading));
  for (const table of await page.locator("table").all()) assert.ok(await table.isVisible());
  for (const drawing of await page.locator(".drawing").all()) assert.ok(await drawing.isVisible());
});
