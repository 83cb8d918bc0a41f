// Making another version of the map: its progress, a way to cancel it, and the way back.

import { api } from "./api";
import { button, make } from "./dom";
import type { MapInfo, UpdateStatus } from "./types";
import { who } from "./who";
import { count, percent } from "./words";

/** Milliseconds between two looks at an update that runs, and at whether somebody has started one. */
const RUNNING = 400;
const IDLE = 5000;

export class Updates {
  /** Whether the server can update its map. */
  readonly able: boolean;
  private readonly text = make("p");
  private readonly bar = make("div", "bar");
  private readonly fill = make("i");
  private readonly cancel = button("", "Cancel", () => void this.act(api.cancelUpdate));
  private readonly back = button("", "", () => void this.act(() => api.revert(who())));
  private status: UpdateStatus = { state: "none" };
  private problem = "";
  private timer = 0;

  constructor(private readonly root: HTMLElement, private readonly latest: () => MapInfo, private readonly changed: () => void) {
    this.bar.setAttribute("role", "progressbar");
    this.bar.setAttribute("aria-valuemin", "0");
    this.bar.setAttribute("aria-valuemax", "100");
    this.bar.setAttribute("aria-label", "Progress of the update");
    this.bar.append(this.fill);
    const actions = make("div", "actions");
    actions.append(this.cancel, this.back);
    root.replaceChildren(this.text, this.bar, actions);
    this.able = latest().updating !== undefined && (latest().role ?? "admin") === "admin";
    if (this.able) void this.look();
  }

  /** Takes groups of outliers, or all live points, into the map. */
  take(groups: number[] | null): void {
    void this.act(() => api.startUpdate(groups, who()));
  }

  private async act(what: () => Promise<UpdateStatus>): Promise<void> {
    this.problem = "";
    try {
      this.status = await what();
    } catch (error) {
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.show();
    this.changed();
    await this.look();
  }

  /** Asks how far it is, and asks again in a while. */
  private async look(): Promise<void> {
    clearTimeout(this.timer);
    try {
      const { state } = this.status;
      this.status = await api.update();
      if (this.status.state !== state) this.changed();
    } catch {
      // Asked again in a while.
    }
    this.show();
    this.timer = window.setTimeout(() => void this.look(), this.running ? RUNNING : IDLE);
  }

  get running(): boolean {
    return this.status.state === "running";
  }

  /** What is under way, what came of it, and the way back where there is one. */
  show(): void {
    const { state, progress = 0 } = this.status;
    const { version, parent = null, revert_to = null } = this.latest();
    const back = this.able && !this.running && revert_to !== null;
    this.root.hidden = !(this.running || this.problem !== "" || state === "failed" || state === "cancelled" || back);
    const said = this.says(version, parent);
    if (this.text.textContent !== said) this.text.textContent = said;
    this.root.classList.toggle("failed", this.problem !== "" || state === "failed");
    this.bar.hidden = this.cancel.hidden = !this.running;
    this.fill.style.width = percent(progress).replace(" ", "");
    this.bar.setAttribute("aria-valuenow", String(Math.round(100 * progress)));
    this.back.hidden = !back;
    this.back.textContent = `Go back to version ${revert_to}`;
  }

  private says(version: number, parent: number | null): string {
    const { state, kind, stage = "", progress = 0, rows, detail } = this.status;
    if (this.problem !== "") return `That was refused: ${this.problem}.`;
    if (state === "running") {
      const what = kind === "revert" ? "Going back" : `Updating the map${rows ? ` with ${count(rows, "point")}` : ""}`;
      return `${what}: ${stage}, ${percent(progress)}`;
    }
    if (state === "failed") return `The update failed: ${detail ?? "no reason is known"}.`;
    if (state === "cancelled") return "The update was cancelled. The map is as it was.";
    return parent === null ? "" : `Version ${version} of the map, made from version ${parent}.`;
  }
}
