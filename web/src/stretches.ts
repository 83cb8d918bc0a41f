// Two stretches of the history, A and the later B: by numbers of events as on the slider, by times as the server is asked.

/** Numbers of events: A is what follows the first of them up to the second, B what follows the third up to the last. */
export type Edges = readonly [number, number, number, number];
/** When A begins and ends, and B. */
export type Times = readonly [number, number, number, number];
/** What the slider can show: the state after each of these events, and all between. */
export type Range = readonly [first: number, last: number];

const clamp = (value: number, least: number, most: number): number => Math.min(Math.max(value, least), most);

/** Neither is empty, and A ends before B begins. */
export const fits = ([a0, a1, b0, b1]: Edges): boolean => a0 < a1 && a1 <= b0 && b0 < b1;

/** The second half against the first. */
export function halves([first, last]: Range): Edges {
  const middle = Math.round((first + last) / 2);
  return [first, middle, middle, last];
}

/** One edge elsewhere, as near to `to` as the others let it. */
export function moveEdge(edges: Edges, k: number, to: number, [first, last]: Range): Edges {
  const starts = k % 2 === 0;
  const least = k === 0 ? first : edges[k - 1] + (starts ? 0 : 1);
  const most = k === 3 ? last : edges[k + 1] - (starts ? 1 : 0);
  const next = [...edges] as [number, number, number, number];
  if (least <= most) next[k] = clamp(Math.round(to), least, most);
  return next;
}

/** A whole stretch elsewhere, 0 for A and 1 for B, as far as the other lets it. */
export function moveStretch([a0, a1, b0, b1]: Edges, which: number, by: number, [first, last]: Range): Edges {
  const [least, most] = which === 0 ? [first - a0, b0 - a1] : [a1 - b0, last - b1];
  const step = clamp(Math.round(by), Math.min(least, 0), Math.max(most, 0));
  return which === 0 ? [a0 + step, a1 + step, b0, b1] : [a0, a1, b0 + step, b1 + step];
}

/** The last so many seconds, against as many that ended so long ago. */
export interface Preset { name: string; seconds: number; back: number }

export const PRESETS: readonly Preset[] = [
  { name: "Last 10 minutes against the 10 before", seconds: 600, back: 600 },
  { name: "Last hour against the hour before", seconds: 3600, back: 3600 },
  { name: "Last hour against the same hour yesterday", seconds: 3600, back: 86_400 },
];

export const presetTimes = ({ seconds, back }: Preset, now: number): Times => [now - back - seconds, now - back, now - seconds, now];

/** The part of the page's address that says what is compared. */
export const addressOf = (times: Times): string => `#compare=${times.join(",")}`;

export function timesIn(address: string): Times | null {
  const times = /^#compare=(.+)$/.exec(address)?.[1].split(",").map(Number) ?? [];
  const rising = times.every((t, k) => Number.isFinite(t) && (k === 0 || times[k - 1] <= t));
  return times.length === 4 && rising ? (times as unknown as Times) : null;
}
