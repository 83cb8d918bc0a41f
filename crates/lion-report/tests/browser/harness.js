// A real browser for the pages that lion-report writes, offline.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { after } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const PAGES = resolve(process.env.PAGES ?? "pages");
const SHOTS = join(PAGES, "shots");
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
];
export const DESKTOP = { width: 1200, height: 800 };
export const PHONE = { width: 390, height: 780 };

mkdirSync(SHOTS, { recursive: true });
// Before any hook of a test file, which may want a page.
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, headless: true, args: FLAGS });
after(() => browser.close());

export const emptyPage = () => browser.newPage();

// Opens one of the pages.
export const open = (t, name, how) => openFile(t, join(PAGES, `${name}.html`), how);

// Opens a page and fails the test if it reports an error or asks the network for anything.
export async function openFile(t, path, { viewport = DESKTOP, dark = false, webgl = true, touch = false, still = false } = {}) {
  const context = await browser.newContext({
    viewport, colorScheme: dark ? "dark" : "light", hasTouch: touch, deviceScaleFactor: touch ? 2 : 1,
    reducedMotion: still ? "reduce" : "no-preference",
  });
  await context.setOffline(true);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => { complaints.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) complaints.push(`request ${request.url()}`);
  });
  // There is no graphics card here, so WebGL is either allowed to do without one or taken away.
  await page.addInitScript((webgl) => {
    const real = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, options) {
      if (kind !== "webgl") return real.call(this, kind, options);
      return webgl ? real.call(this, kind, { ...options, failIfMajorPerformanceCaveat: false }) : null;
    };
  }, webgl);
  await page.goto(pathToFileURL(path).href);
  await settle(page);
  t.after(async () => {
    await context.close();
    assert.deepEqual(complaints, []);
  });
  return page;
}

// Two frames: the one that was asked for, and the one after it, when it is on the screen.
export const settle = (page) => page.evaluate(() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));

export async function shot(page, name) {
  await settle(page);
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}

// Where a point is on the screen, found as a person finds it: by searching and going there (the middle).
export async function goTo(page, id) {
  await page.fill("#query", id);
  await page.press("#query", "Enter");
  await settle(page);
  const box = await page.locator("#over").boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
}
