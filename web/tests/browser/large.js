// A map of 60000 rows in the page, and how smoothly it becomes another one.

import { dice } from "./harness.js";

const ROWS = 60_000;
const DIMS = 4;

/** Makes the map: ten clouds on a circle. */
export function makeLarge(world) {
  const normal = dice(3);
  const [rows, places] = [[], []];
  for (let row = 0; row < ROWS; row++) {
    const label = row % 10;
    rows.push({ label, x: Array.from({ length: DIMS }, (_, d) => ((label >> d) & 1) * 30 + normal()) });
    places.push([40 * Math.cos(label * 0.628) + 5 * normal(), 40 * Math.sin(label * 0.628) + 5 * normal()]);
  }
  world.adopt(rows, places);
}

/** When the whole map was on the screen, in milliseconds after the page was asked for. */
export async function painted(page) {
  await page.waitForFunction(() => performance.getEntriesByName("lion-painted").length > 0);
  return page.evaluate(() => performance.getEntriesByName("lion-painted")[0].startTime);
}

/** Lets the map become another version of itself: larger, turned a little, and with every row moved. Gives milliseconds: `frames` from one to the next, `scripts` that the page itself worked in each, `tasks` of more than 50 on the main thread. */
export const morph = (page) => page.evaluate(() => new Promise((done) => {
  const { lion } = window;
  const { info, columns } = lion.shown;
  const other = { info: { ...info, bounds: info.bounds.map((side) => 1.3 * side) }, columns: { ...columns } };
  other.columns.x = columns.x.map((x, row) => 1.2 * x - 0.3 * columns.y[row] + Math.sin(row));
  other.columns.y = columns.y.map((y, row) => 1.2 * y + 0.3 * columns.x[row] + Math.cos(row));
  const [frames, scripts, tasks] = [[], [], []];
  const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)));
  observer.observe({ entryTypes: ["longtask"] });
  const { frame } = lion;
  lion.frame = () => {
    const began = performance.now();
    frame.call(lion);
    scripts.push(performance.now() - began);
  };
  let last = performance.now();
  let left = Infinity;
  const watch = (now) => {
    frames.push(now - last);
    last = now;
    // What is left to do at the end belongs to it.
    if (--left > 0) return void requestAnimationFrame(watch);
    delete lion.frame;
    setTimeout(() => {
      observer.disconnect();
      done({ frames, scripts, tasks });
    }, 100);
  };
  // Begins with a frame, as the page does it.
  requestAnimationFrame((now) => {
    last = now;
    requestAnimationFrame(watch);
    const began = performance.now();
    const before = lion.versions.show(other);
    lion.renew(before, new Map(), 2).then(() => { left = 3; });
    scripts.push(performance.now() - began);
  });
}));
