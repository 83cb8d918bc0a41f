// What the page says of itself: is it live, what is going on, and what somebody should know. Said aloud too, for who does not see it.

import { byId, make } from "./dom";
import type { Mode } from "./replay";
import type { State } from "./state";
import type { MapInfo } from "./types";
import { count, moment, number, status, type Alarm } from "./words";

/** Milliseconds that a note stays. */
const TOLD = 15_000;

export class Headline {
  private connection: "connecting" | "live" | "lost" = "connecting";
  private alarmed: string | null = null;
  private telling = 0;
  private recorded = false;

  /** Which map is shown. */
  introduce({ name, rows, parent = null, version, recording }: MapInfo): void {
    this.recorded = recording !== undefined;
    byId("name").textContent = name;
    byId("about").textContent = parent === null ? `${count(rows, "row")} in the map` : `${count(rows, "row")}, version ${version}`;
  }

  /** The whole situation as one line; what is newly unusual is said aloud. */
  say(name: string, state: State, list: readonly Alarm[]): void {
    const aloud = list.map(({ short }) => short).join(", ");
    if (this.alarmed !== aloud && aloud !== "") this.announce(aloud);
    this.alarmed = aloud;
    const line = status(state, list);
    const root = byId("status");
    if (root.title === line) return;
    root.title = line;
    const [points, outliers, ...rest] = line.split(" · ");
    root.replaceChildren(`${points} · ${outliers} · `);
    if (list.length === 0) root.append(rest.join(" · "));
    else root.append(make("em", "", rest.join(" · ")));
    document.title = `${list.length > 0 ? "⚠ " : ""}${points}, ${outliers} – ${name}`;
  }

  announce(text: string): void {
    byId("said").textContent = text;
  }

  /** Says something over the map for a while. */
  tell(text: string): void {
    const note = byId("note");
    note.textContent = text;
    note.hidden = false;
    clearTimeout(this.telling);
    this.telling = window.setTimeout(() => { note.hidden = true; }, TOLD);
  }

  /** Live, offline, or in the past: at the moment `t`, so many events before now. */
  pill(mode: Mode, t: number | undefined, behind: number): void {
    const state = this.connection === "lost" ? "lost" : mode === "live" ? this.connection : "replay";
    const pill = byId("pill");
    pill.dataset.state = state;
    const text = { live: "Live", lost: "Offline", replay: mode === "playing" ? "Replaying" : this.recorded ? "Recorded" : "Paused", connecting: "Connecting" }[state];
    (pill.querySelector("span") as HTMLElement).textContent = text;
    const past = byId("past");
    // All of a recording is the past.
    past.hidden = mode === "live" || this.recorded;
    document.body.classList.toggle("past", !past.hidden);
    if (mode !== "live") past.textContent = `The past: ${t === undefined ? "the start" : moment(t)}, ${number(behind)} ${behind === 1 ? "event" : "events"} before now`;
  }

  online(): void {
    const was = this.connection;
    this.connection = "live";
    byId("banner").hidden = true;
    if (was === "lost" && byId("note").hidden) this.announce("Connected again; nothing was missed.");
  }

  offline(seconds: number, reason: string): void {
    if (this.connection !== "lost") this.announce(`Connection lost: ${reason}.`);
    this.connection = "lost";
    const banner = byId("banner");
    banner.hidden = false;
    (banner.querySelector("span") as HTMLElement).textContent =
      `Connection lost: ${reason}. The map shows what was known. Trying again in ${seconds} s.`;
  }
}
