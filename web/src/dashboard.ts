// The dashboard: brings the parts together once the map is here.

import { api } from "./api";
import { Charts } from "./charts";
import { byId, download, icon, make } from "./dom";
import { Feed } from "./feed";
import { Guide } from "./guide";
import { figuresNow, figuresThen, wallClock } from "./figures";
import { boxOfBounds, thin, type Rect } from "./geometry";
import { Kin } from "./kin";
import { listenToKeys } from "./keyboard";
import { Legend } from "./legend";
import { Link } from "./link";
import { Log } from "./log";
import { Look } from "./look";
import { Pointer } from "./pointer";
import { Replay } from "./replay";
import { Search } from "./search";
import { Selection } from "./selection";
import { Stage } from "./stage";
import { State } from "./state";
import type { Themes } from "./theme";
import { isNotice, type Health, type LiveEvent, type LiveSnapshot, type MapInfo } from "./types";
import type { Version } from "./versions";
import { alarms, count, moment, number, status, type Alarm } from "./words";

/** Events that one frame takes in at most; the rest waits for the next. */
const BATCH = 4000;
/** Seconds between two updates of words and numbers, the more the more points are counted for them. */
const WORDS = 0.15;
const MANY = 50_000;
/** A page that looks at the past, or is not looked at, holds so many events back at most; then it starts anew from now. */
const BEHIND = 300_000;
/** Events that the feed is filled with after a jump. */
const RETOLD = 120;

/** How far the map reaches. */
const extent = ({ bounds }: MapInfo): number => {
  const { x0, y0, x1, y1 } = boxOfBounds(bounds);
  return Math.hypot(x1 - x0, y1 - y0);
};

/** Milliseconds that a note stays. */
const TOLD = 15_000;

/** Health may lag behind the events by this many seconds, and must not undo what they just said. */
const LAG = 0.8;

const clock = (): number => performance.now() / 1000;

export class Dashboard {
  private readonly state = new State();
  private readonly log = new Log();
  private readonly look: Look;
  private readonly stage: Stage;
  private readonly kin: Kin;
  /** How many members a group had after an event. */
  private readonly sizes = new WeakMap<LiveEvent, number>();
  private readonly feed: Feed;
  private readonly charts = new Charts(byId("charts"));
  private readonly legend: Legend;
  private readonly selection: Selection;
  private readonly replay: Replay;
  private readonly guide: Guide;
  private readonly pointer: Pointer;
  private readonly search: Search;
  private readonly link: Link;
  private health: Health;
  private connection: "connecting" | "live" | "lost" = "connecting";
  private stale = true;
  private worded = 0;
  /** When the last notice came. */
  private noticed = 0;
  private before = clock();
  private waning = "";
  private unusual = "";
  private alarmed: string | null = null;
  private telling = 0;

  constructor(private readonly shown: Version, live: LiveSnapshot, private readonly themes: Themes) {
    const map = shown.info;
    this.health = live.health;
    this.look = new Look(shown);
    this.state.load(live);
    for (const { label } of this.state.points.values()) this.look.meet(label);
    this.stage = new Stage(shown, this.state, this.look, themes, clock);
    this.kin = new Kin(this.state, (row) => this.look.clusterOfRow(row));
    this.stage.scene.like = (group) => this.kin.group(group);
    this.feed = new Feed(byId("feed"), {
      like: (ids) => this.kin.of(ids),
      size: (event) => this.sizes.get(event),
      little: extent(map) * 0.06,
      columns: map.columns,
      colour: (name) => this.look.colour(name),
      go: (event) => this.guide.go(event),
      goMany: (ids) => this.selection.choose(ids.filter((id) => this.state.points.has(id)), []),
      waiting: (many) => {
        byId("tab-feed").textContent = many > 0 ? `What happened · ${number(many)} new` : "What happened";
      },
    });
    this.legend = new Legend(byId("legend"), this.look, (base) => (base ? this.stage.recolour() : this.recolour()));
    this.selection = new Selection(byId("selection"), byId("tab-selection"), this.state, shown, this.look, {
      goPoint: (id) => this.guide.goPoint(id),
      goRow: (row) => this.guide.goRow(row),
      changed: () => this.selected(),
    });
    this.search = new Search(this.state, shown, (found) => this.guide.goFound(found));
    this.guide = new Guide(this.stage, this.state, shown, this.look, this.selection, (text) => this.announce(text));
    this.pointer = new Pointer(this.stage, byId<HTMLButtonElement>("lasso"), byId<HTMLButtonElement>("turn"), {
      hover: (picked, x, y) => this.guide.hover(picked, x, y),
      click: (picked, at) => this.guide.click(picked, at),
      lasso: (path) => {
        const polygon = thin(path, 2).map(({ x, y }) => this.stage.camera.toPlane(x, y));
        this.selection.lasso(polygon, this.stage.rows(), (point) => {
          const at = this.stage.screen(point);
          return this.stage.camera.toPlane(at.x, at.y);
        });
        this.stage.scene.selected.outline = polygon;
      },
    });
    this.replay = new Replay(this.state, this.log, {
      jumped: (ids) => this.jumped(ids),
      mode: () => {
        this.stale = true;
        this.pill();
      },
      fetched: (events) => this.kin.learn(events),
      failed: (problem) => this.announce(problem),
    });
    themes.onChange(() => {
      this.legend.fill();
      this.stale = true;
    });
    this.link = this.connect();
    this.adopt(live);
    this.listen();
    byId("name").textContent = map.name;
    byId("about").textContent = `${count(map.rows, "row")} in the map`;
    this.link.listen();
    requestAnimationFrame(() => this.frame());
  }

  private connect(): Link {
    return new Link(() => this.shown.info, {
      last: () => this.log.last,
      event: (event) => {
        this.log.append(event);
        this.stale = true;
        if (this.log.last - this.state.last > BEHIND) void this.link.renew();
      },
      health: (health) => {
        this.health = health;
        // A past moment keeps what it knew; now is as the server says, once its events are here.
        const settled = this.state.last >= this.log.last && clock() - this.noticed > LAG;
        if (this.replay.mode === "live" && settled) this.state.adopt(health);
        this.stale = true;
      },
      live: () => this.online(),
      lost: (seconds, reason) => this.offline(seconds, reason),
      replaced: () => location.reload(),
      latest: () => this.log.at(this.log.last),
      reload: async (why) => {
        const [map, live] = await Promise.all([api.map(), api.live()]);
        this.shown.info = map;
        this.replay.goLive();
        this.health = live.health;
        this.state.load(live);
        this.adopt(live);
        if (why) this.tell(why);
      },
    });
  }

  /** Goes on from a snapshot: the log begins after it. */
  private adopt(live: LiveSnapshot): void {
    this.log.restart(live.last);
    this.stage.reload(wallClock(live.points.t.reduce((latest, t) => Math.max(latest, t), 0)));
    this.feed.clear();
    this.replay.start(this.shown.info.first);
    if (live.last > 0) void api.before(live.last + 1, RETOLD).then(({ events }) => {
      // What happened meanwhile is told after it.
      if (this.replay.mode === "live") this.feed.refill([...events, ...this.log.upTo(this.state.last, this.state.last - live.last)]);
    }).catch(() => {});
    this.stale = true;
  }

  private listen(): void {
    byId("nearer").addEventListener("click", () => this.zoom(1.6));
    byId("farther").addEventListener("click", () => this.zoom(1 / 1.6));
    byId("fit").addEventListener("click", () => this.stage.fit());
    byId("png").addEventListener("click", () => this.png());
    byId("help-button").addEventListener("click", () => this.help());
    (byId("banner").querySelector("button") as HTMLButtonElement).addEventListener("click", () => this.link.now());
    for (const tab of ["feed", "selection"] as const) byId(`tab-${tab}`).addEventListener("click", () => this.open(tab));
    byId("tab-feed").parentElement?.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const tab = byId("feed").hidden ? "feed" : "selection";
      this.open(tab);
      byId(`tab-${tab}`).focus();
    });
    document.addEventListener("pointerdown", ({ target }) => {
      if (!byId("help").hidden && target instanceof Element && !target.closest("#help, #help-button")) this.help();
    });
    listenToKeys({
      pan: (dx, dy) => this.pointer.drag(dx, dy),
      zoom: (factor) => this.zoom(factor),
      fit: () => this.stage.fit(),
      search: () => this.search.focus(),
      play: () => this.replay.toggle(),
      nudge: (step) => this.replay.nudge(step),
      live: () => this.replay.goLive(),
      lasso: () => this.pointer.toggleLasso(),
      turn: () => this.pointer.toggleTurn(),
      theme: () => this.themes.toggle(),
      png: () => this.png(),
      help: () => this.help(),
      escape: () => this.escape(),
    });
  }

  // ---- once a frame

  private frame(): void {
    requestAnimationFrame(() => this.frame());
    const now = clock();
    const since = now - this.before;
    this.before = now;
    this.happen(since);
    this.pointer.frame();
    this.guide.frame();
    if (this.stale && now - this.worded > WORDS * (1 + this.state.points.size / MANY)) this.words(now);
    this.stage.frame(now, since);
  }

  private happen(since: number): void {
    const events: LiveEvent[] = [];
    if (this.replay.mode === "live") {
      while (events.length < BATCH && this.state.last + events.length < this.log.last) {
        events.push(this.log.at(this.state.last + events.length + 1) as LiveEvent);
      }
      this.log.prune();
    } else events.push(...this.replay.due(Math.min(since, 0.1)).slice(0, BATCH));
    if (events.length === 0) return;
    let strangers = false;
    for (const event of events) {
      const step = this.state.apply(event);
      this.kin.note(event);
      if (event.kind === "joined-group") this.sizes.set(event, this.state.groups.get(event.group ?? -1)?.size ?? 1);
      if (step?.now) strangers = this.look.meet(step.now.label) || strangers;
      this.stage.play(event, step);
    }
    if (strangers) this.legend.fill();
    this.feed.add(events);
    if (events.some(isNotice)) {
      this.noticed = clock();
      this.worded = 0;
    }
    this.stale = true;
  }

  private jumped(ids: Set<string>): void {
    const { state, log } = this;
    this.stage.jump(ids, log.at(state.last)?.t ?? 0);
    this.feed.refill(log.upTo(state.last, RETOLD));
    this.stale = true;
  }

  // ---- words and numbers

  private words(now: number): void {
    this.worded = now;
    this.stale = false;
    const { state, health, replay } = this;
    const live = replay.mode === "live";
    const list = alarms(state, live ? health : null, (group) => this.kin.group(group), (name) => this.look.centre(name));
    this.charts.draw(live ? figuresNow(health, state, this.quiet(), this.shown.info.alerts?.staleness ?? null) : figuresThen(this.log, state, health.window, health.promised));
    this.legend.count(state);
    this.selection.refresh();
    replay.show(this.themes.current);
    this.say(list);
    this.warn(list);
    this.pill();
    const waning = [...state.vanishing.keys()].join("\n");
    if (waning !== this.waning) {
      this.waning = waning;
      this.stage.recolourBase();
    }
    this.stage.scene.kept = this.kept();
    this.stage.touch();
  }

  /** What lies over the map in its own right: words drawn on the map keep out of there. */
  private kept(): Rect[] {
    const { left, top } = this.stage.root.getBoundingClientRect();
    return [...this.stage.root.querySelectorAll(".notes > :not([hidden]), .tools")].map((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x: x - left - 6, y: y - top - 6, width: width + 12, height: height + 12 };
    });
  }

  /** Seconds since the latest event, as far as its time is that of a clock. */
  private quiet(): number {
    const t = this.log.at(this.log.last)?.t ?? 0;
    return wallClock(t) - t;
  }

  private say(list: Alarm[]): void {
    const line = status(this.state, list);
    const root = byId("status");
    if (root.title === line) return;
    root.title = line;
    const [points, outliers, ...rest] = line.split(" · ");
    root.replaceChildren(`${points} · ${outliers} · `);
    if (list.length === 0) root.append(rest.join(" · "));
    else root.append(make("em", "", rest.join(" · ")));
    document.title = `${list.length > 0 ? "⚠ " : ""}${points}, ${outliers} – ${this.shown.info.name}`;
  }

  /** What is unusual now, each with its place; new ones are said aloud. */
  private warn(list: Alarm[]): void {
    const key = JSON.stringify(list);
    if (key === this.unusual) return;
    this.unusual = key;
    const root = byId("alarms");
    if (list.length === 0) {
      const calm = make("p");
      calm.append(icon("stay"), "Nothing unusual right now.");
      root.replaceChildren(calm);
    } else {
      const focus = [...root.children].indexOf(document.activeElement as Element);
      root.replaceChildren(...list.map((alarm) => {
        const made = make("button", `alarm ${alarm.tone}`);
        made.type = "button";
        made.append(icon(alarm.tone === "share" ? "outlier" : alarm.tone), make("span", "", alarm.text));
        made.addEventListener("click", () => this.guide.goAlarm(alarm));
        return made;
      }));
      // Who stands on one with the keyboard stays there while its numbers change.
      if (focus >= 0) (root.children[Math.min(focus, list.length - 1)] as HTMLElement).focus();
    }
    const aloud = list.map(({ short }) => short).join(", ");
    if (this.alarmed !== aloud && aloud !== "") this.announce(aloud);
    this.alarmed = aloud;
  }

  private announce(text: string): void {
    byId("said").textContent = text;
  }

  /** Says something over the map for a while. */
  private tell(text: string): void {
    const note = byId("note");
    note.textContent = text;
    note.hidden = false;
    clearTimeout(this.telling);
    this.telling = window.setTimeout(() => { note.hidden = true; }, TOLD);
  }

  private pill(): void {
    const { mode } = this.replay;
    const state = this.connection === "lost" ? "lost" : mode === "live" ? this.connection : "replay";
    const pill = byId("pill");
    pill.dataset.state = state;
    const text = { live: "Live", lost: "Offline", replay: mode === "playing" ? "Replaying" : "Paused", connecting: "Connecting" }[state];
    (pill.querySelector("span") as HTMLElement).textContent = text;
    const past = byId("past");
    past.hidden = mode === "live";
    this.stage.root.classList.toggle("past", mode !== "live");
    if (mode === "live") return;
    const event = this.log.at(this.state.last);
    const behind = this.log.last - this.state.last;
    past.textContent =
      `The past: ${event ? moment(event.t) : "the start"}, ${number(behind)} ${behind === 1 ? "event" : "events"} before now`;
  }

  private online(): void {
    const was = this.connection;
    this.connection = "live";
    byId("banner").hidden = true;
    this.pill();
    if (was === "lost" && byId("note").hidden) this.announce("Connected again; nothing was missed.");
    this.stale = true;
  }

  private offline(seconds: number, reason: string): void {
    if (this.connection !== "lost") this.announce(`Connection lost: ${reason}.`);
    this.connection = "lost";
    this.pill();
    const banner = byId("banner");
    banner.hidden = false;
    (banner.querySelector("span") as HTMLElement).textContent =
      `Connection lost: ${reason}. The map shows what was known. Trying again in ${seconds} s.`;
    this.stale = true;
  }

  // ---- what people do

  private zoom(factor: number): void {
    this.stage.camera.zoomAt(factor);
    this.stage.view();
  }

  private recolour(): void {
    this.stage.recolour();
    this.legend.count(this.state);
  }

  private open(tab: "feed" | "selection"): void {
    for (const name of ["feed", "selection"]) {
      const chosen = name === tab;
      byId(name).hidden = !chosen;
      byId(`tab-${name}`).setAttribute("aria-selected", String(chosen));
      byId(`tab-${name}`).tabIndex = chosen ? 0 : -1;
    }
    this.selection.refresh();
  }

  private selected(): void {
    this.stage.scene.selected = { ids: this.selection.ids, rows: this.selection.rows, outline: [] };
    this.stage.touch();
    this.open(this.selection.size > 0 ? "selection" : "feed");
    if (this.selection.size > 0) this.announce(`${count(this.selection.size, "point")} selected`);
  }

  private help(): void {
    const help = byId("help");
    help.hidden = !help.hidden;
    byId("help-button").setAttribute("aria-expanded", String(!help.hidden));
  }

  private escape(): void {
    if (!byId("help").hidden) this.help();
    else if (this.pointer.lassoing) this.pointer.setLasso(false);
    else if (this.guide.holds) this.guide.unpin();
    else if (this.selection.size > 0) this.selection.clear();
    else this.replay.goLive();
    this.guide.hover(null, 0, 0);
  }

  private png(): void {
    const when = new Date().toISOString().slice(0, 19).replace("T", " ");
    const canvas = this.stage.picture(this.shown.info.name, `${byId("status").title} · ${when}`, this.legend.lines());
    canvas.toBlob((blob) => blob && download(`${this.shown.info.name || "lion"}-live.png`, blob), "image/png");
  }

  /** Where a point is on the page, for scripts. */
  where(id: string): { x: number; y: number } | null {
    const point = this.state.points.get(id);
    if (!point) return null;
    const { left, top } = this.stage.root.getBoundingClientRect();
    const { x, y } = this.stage.screen(point);
    return { x: left + x, y: top + y };
  }
}
