// What is unusual now: each alarm with what can be done about it, and whether somebody has seen to it.

import { api } from "./api";
import { button, icon, make } from "./dom";
import type { Handled, NoticeState } from "./types";
import { who } from "./who";
import { by, count, moment, type Alarm } from "./words";

export interface NoticeWays {
  go(alarm: Alarm): void;
  /** Takes groups of outliers, or all points, into the map. */
  take(groups: number[] | null): void;
  failed(problem: string): void;
  changed(): void;
}

interface Line { root: HTMLElement; text: HTMLElement; said: HTMLElement; actions: HTMLElement; made: string; alarm: Alarm }

/** What a notice of the server is about, as alarms name it. */
function about({ kind, group, cluster }: Handled): string {
  switch (kind) {
    case "forming": return `group ${group}`;
    case "vanishing": return `cluster ${cluster}`;
    case "cluster-stale": return `rows of ${cluster}`;
    default: return "map";
  }
}

export class Notices {
  private readonly lines = new Map<string, Line>();
  private readonly calm = make("p");
  private readonly more = button("dismissed", "", () => {
    this.all = !this.all;
    this.ways.changed();
  });
  /** Whether those are shown that were dismissed. */
  private all = false;
  private handled = new Map<string, Handled>();

  constructor(private readonly root: HTMLElement, private readonly ways: NoticeWays) {
    this.calm.append(icon("stay"), "Nothing unusual right now.");
  }

  /** Asks the server again who has seen to what. Servers of before do not know. */
  async refresh(): Promise<void> {
    try {
      const { notices } = await api.notices();
      this.handled = new Map(notices.filter(({ ended }) => ended === null).map((notice) => [about(notice), notice]));
      this.ways.changed();
    } catch {
      // Without an answer the alarms are shown as they are.
    }
  }

  dismissed({ about: subject }: Alarm): boolean {
    return this.handled.get(subject)?.state === "dismissed";
  }

  /** Shows the alarms. `acts`: what can be done now, which is nothing for a moment in the past. */
  show(list: readonly Alarm[], acts: { update: boolean } | null): void {
    const hidden = list.filter((alarm) => this.dismissed(alarm)).length;
    const wanted = this.all ? list : list.filter((alarm) => !this.dismissed(alarm));
    for (const [subject, { root }] of this.lines) {
      if (wanted.some((alarm) => alarm.about === subject)) continue;
      root.remove();
      this.lines.delete(subject);
    }
    let before: Element | null = null;
    for (const alarm of wanted) {
      const line = this.lines.get(alarm.about) ?? this.line(alarm);
      this.lines.set(alarm.about, line);
      const next: Element | null = before ? before.nextElementSibling : this.root.firstElementChild;
      if (next !== line.root) this.root.insertBefore(line.root, next);
      before = line.root;
      this.fill(line, alarm, acts);
    }
    this.calm.remove();
    this.more.remove();
    if (wanted.length === 0) this.root.prepend(this.calm);
    this.more.textContent = this.all ? "Hide what was dismissed" : `Show ${count(hidden, "dismissed notice")}`;
    if (hidden > 0) this.root.append(this.more);
  }

  private line(alarm: Alarm): Line {
    const root = make("div");
    const what = make("button", "what");
    const [text, said, actions] = [make("span"), make("small"), make("div", "actions")];
    what.type = "button";
    what.append(icon(alarm.tone === "share" ? "outlier" : alarm.tone), text);
    const line: Line = { root, text, said, actions, made: "", alarm };
    what.addEventListener("click", () => this.ways.go(line.alarm));
    root.append(what, said, actions);
    return line;
  }

  private fill(line: Line, alarm: Alarm, acts: { update: boolean } | null): void {
    line.alarm = alarm;
    const notice = this.handled.get(alarm.about);
    const state = notice?.state ?? "open";
    line.root.className = `alarm ${alarm.tone} ${state}`;
    if (line.text.textContent !== alarm.text) {
      // What it is stands out from what shows it.
      const end = alarm.text.indexOf(": ") + 1;
      line.text.replaceChildren(make("b", "", alarm.text.slice(0, end)), alarm.text.slice(end));
    }
    const said = notice && state !== "open" ? `${state === "acknowledged" ? "Acknowledged" : "Dismissed"}${by(notice.who)}${notice.at === null ? "" : ` at ${moment(notice.at)}`}` : "";
    if (line.said.textContent !== said) line.said.textContent = said;
    // Made again only when others are needed: who stands on one with the keyboard stays there.
    const made = JSON.stringify([acts, notice?.id, state]);
    if (made === line.made) return;
    line.made = made;
    const buttons: HTMLButtonElement[] = [];
    const takes = alarm.tone === "forming" || alarm.tone === "stale";
    if (acts?.update && takes) buttons.push(button("first", alarm.groups ? "Take it into the map" : "Update the map", () => this.ways.take(line.alarm.groups ?? null)));
    const set = (text: string, to: NoticeState) => buttons.push(button("", text, () => void this.handle(line.alarm, to)));
    if (acts && notice && state === "open") set("Acknowledge", "acknowledged");
    if (acts && notice && state !== "dismissed") set("Dismiss", "dismissed");
    if (acts && notice && state !== "open") set("Reopen", "open");
    line.actions.replaceChildren(...buttons);
  }

  private async handle(alarm: Alarm, state: NoticeState): Promise<void> {
    const notice = this.handled.get(alarm.about);
    if (!notice) return;
    try {
      this.handled.set(alarm.about, await api.handle(notice.id, state, who()));
      this.ways.changed();
    } catch (error) {
      this.ways.failed(`The notice could not be changed: ${error instanceof Error ? error.message : String(error)}.`);
    }
  }
}
