// Keys, wherever the focus is, except in fields that need them.

export interface Keys {
  pan(dx: number, dy: number): void;
  zoom(factor: number): void;
  fit(): void;
  search(): void;
  play(): void;
  nudge(step: number): void;
  live(): void;
  compare(): void;
  lasso(): void;
  /** What a drag does to a map in space: turn or move. */
  turn(): void;
  theme(): void;
  png(): void;
  help(): void;
  escape(): void;
}

const STEP = 60; // pixels

export function listenToKeys(keys: Keys): void {
  const acts: Record<string, () => void> = {
    ArrowLeft: () => keys.pan(STEP, 0),
    ArrowRight: () => keys.pan(-STEP, 0),
    ArrowUp: () => keys.pan(0, STEP),
    ArrowDown: () => keys.pan(0, -STEP),
    "+": () => keys.zoom(1.4),
    "=": () => keys.zoom(1.4),
    "-": () => keys.zoom(1 / 1.4),
    "0": () => keys.fit(),
    "/": () => keys.search(),
    " ": () => keys.play(),
    ",": () => keys.nudge(-1),
    ".": () => keys.nudge(1),
    e: () => keys.live(),
    c: () => keys.compare(),
    l: () => keys.lasso(),
    r: () => keys.turn(),
    t: () => keys.theme(),
    p: () => keys.png(),
    "?": () => keys.help(),
    Escape: () => keys.escape(),
  };
  document.addEventListener("keydown", (event) => {
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey || takes(event)) return;
    event.preventDefault();
    act();
  });
}

/** Whether what has the focus needs this key itself. */
function takes({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement) || key === "Escape") return false;
  if (target instanceof HTMLInputElement) return target.type !== "range" || key.startsWith("Arrow");
  if (target instanceof HTMLSelectElement) return true;
  if (key === " ") return target instanceof HTMLButtonElement;
  const scrolls = target.closest("#feed, #selection, #compare, #legend, #bands, [role=tablist]") !== null;
  return key.startsWith("Arrow") && scrolls;
}
