// Buttons around the map, and keys: what a person does to the page.

import type { Compare } from "./compare";
import { byId, download } from "./dom";
import type { Guide } from "./guide";
import { listenToKeys } from "./keyboard";
import type { Legend } from "./legend";
import type { Link } from "./link";
import type { Pointer } from "./pointer";
import type { Replay } from "./replay";
import type { Search } from "./search";
import type { Selection } from "./selection";
import type { Stage } from "./stage";
import type { Themes } from "./theme";
import type { Version } from "./versions";

/** The parts of the page that buttons and keys reach. */
export interface Controlled {
  shown: Version; stage: Stage; themes: Themes; legend: Legend; pointer: Pointer; guide: Guide; selection: Selection; search: Search;
  replay: Replay; compare: Compare; link: Link;
  /** Whether the page is a recording, which has no now to go back to. */
  recorded: boolean;
}

export class Controls {
  constructor(private readonly parts: Controlled) {
    const { stage, pointer, search, replay, compare, link, themes } = parts;
    byId("nearer").addEventListener("click", () => this.zoom(1.6));
    byId("farther").addEventListener("click", () => this.zoom(1 / 1.6));
    byId("fit").addEventListener("click", () => stage.fit());
    byId("png").addEventListener("click", () => this.png());
    byId("help-button").addEventListener("click", () => this.help());
    (byId("banner").querySelector("button") as HTMLButtonElement).addEventListener("click", () => link.now());
    document.addEventListener("pointerdown", ({ target }) => {
      if (!byId("help").hidden && target instanceof Element && !target.closest("#help, #help-button")) this.help();
    });
    listenToKeys({
      pan: (dx, dy) => pointer.drag(dx, dy),
      zoom: (factor) => this.zoom(factor),
      fit: () => stage.fit(),
      search: () => search.focus(),
      play: () => replay.toggle(),
      nudge: (step) => replay.nudge(step),
      live: () => void replay.goLive(),
      compare: () => compare.toggle(),
      lasso: () => pointer.toggleLasso(),
      turn: () => pointer.toggleTurn(),
      theme: () => themes.toggle(),
      png: () => this.png(),
      help: () => this.help(),
      escape: () => this.escape(),
    });
  }

  private zoom(factor: number): void {
    const { stage } = this.parts;
    stage.camera.zoomAt(factor);
    stage.view();
  }

  private help(): void {
    const help = byId("help");
    help.hidden = !help.hidden;
    byId("help-button").setAttribute("aria-expanded", String(!help.hidden));
  }

  /** Leaves what was entered last. */
  private escape(): void {
    const { recorded, pointer, guide, selection, compare, replay } = this.parts;
    if (!byId("help").hidden) this.help();
    else if (pointer.lassoing) pointer.setLasso(false);
    else if (guide.holds) guide.unpin();
    else if (selection.size > 0) selection.clear();
    else if (compare.on) compare.leave();
    else if (!recorded) void replay.goLive();
    guide.hover(null, 0, 0);
  }

  private png(): void {
    const { shown, stage, legend, compare, themes } = this.parts;
    const when = new Date().toISOString().slice(0, 19).replace("T", " ");
    const canvas = stage.picture(shown.info.name, `${byId("status").title} · ${when}`, [...legend.lines(), ...compare.lines(themes.current)]);
    canvas.toBlob((blob) => blob && download(`${shown.info.name || "lion"}-live.png`, blob), "image/png");
  }
}
