// The tabs of the side: one of its panels is seen.

import { byId } from "./dom";

export type Tab = "feed" | "selection" | "compare";
const TABS: readonly Tab[] = ["feed", "selection", "compare"];

export class Tabs {
  constructor(private readonly opened: () => void) {
    for (const name of TABS) byId(`tab-${name}`).addEventListener("click", () => this.open(name));
    byId("tab-feed").parentElement?.addEventListener("keydown", ({ key }) => {
      if (key !== "ArrowLeft" && key !== "ArrowRight") return;
      const there = TABS.filter((name) => !byId(`tab-${name}`).hidden);
      const at = there.findIndex((name) => !byId(name).hidden);
      const next = there[(at + (key === "ArrowLeft" ? there.length - 1 : 1)) % there.length];
      this.open(next);
      byId(`tab-${next}`).focus();
    });
  }

  open(tab: Tab): void {
    for (const name of TABS) {
      const chosen = name === tab;
      byId(name).hidden = !chosen;
      byId(`tab-${name}`).setAttribute("aria-selected", String(chosen));
      byId(`tab-${name}`).tabIndex = chosen ? 0 : -1;
    }
    this.opened();
  }
}
