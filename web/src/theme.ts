// Light and dark: as the system says, until the person says otherwise.

import type { Rgb } from "./palette";

export interface Theme { dark: boolean; paper: Rgb; ink: Rgb; faint: Rgb; line: Rgb; accent: Rgb; gained: Rgb; lost: Rgb }

/** What draws asks for the colours of now, and hears of others. */
export interface ThemeSource { readonly current: Theme; onChange(listener: () => void): void }

/** The colours that an element has by its style. */
export function readTheme(element: Element, dark: boolean): Theme {
  const style = getComputedStyle(element);
  const colour = (name: string): Rgb => {
    const code = parseInt(style.getPropertyValue(name).trim().slice(1), 16);
    return [(code >> 16) & 255, (code >> 8) & 255, code & 255];
  };
  return {
    dark,
    paper: colour("--map"),
    ink: colour("--ink"),
    faint: colour("--faint"),
    line: colour("--line"),
    accent: colour("--accent"),
    gained: colour("--gained"),
    lost: colour("--lost"),
  };
}

const KEY = "lion-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Whether the person asked for less motion. */
export const calm = (): boolean => still.matches;

export class Themes implements ThemeSource {
  current: Theme;
  private readonly listeners: (() => void)[] = [];

  constructor(button: HTMLButtonElement) {
    this.current = this.read();
    button.addEventListener("click", () => this.toggle());
    system.addEventListener("change", () => this.refresh());
    this.button = button;
    this.refresh();
  }

  private readonly button: HTMLButtonElement;

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  toggle(): void {
    try {
      localStorage.setItem(KEY, this.current.dark ? "light" : "dark");
    } catch {
      // Storage may be forbidden; then the choice holds for this page only.
    }
    this.chosen = this.current.dark ? "light" : "dark";
    this.refresh();
  }

  private chosen: string | null = (() => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  })();

  private refresh(): void {
    const dark = this.chosen ? this.chosen === "dark" : system.matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.current = this.read();
    const name = dark ? "Light colours" : "Dark colours";
    this.button.setAttribute("aria-label", name);
    this.button.title = `${name} (t)`;
    this.button.querySelector("use")?.setAttribute("href", dark ? "#i-sun" : "#i-moon");
    for (const listener of this.listeners) listener();
  }

  private read(): Theme {
    const { documentElement: page } = document;
    return readTheme(page, page.dataset.theme === "dark");
  }
}
