// The dashboard: brings the parts together once the map is here.

import { api } from "./api";
import { Charts } from "./charts";
import { Compare } from "./compare";
import { Controls } from "./controls";
import { Crossing } from "./crossing";
import { byId } from "./dom";
import { Feed } from "./feed";
import { Guide } from "./guide";
import { Headline } from "./headline";
import { figuresNow, figuresThen, wallClock } from "./figures";
import { boxOfBounds, thin, type Rect, type Spot } from "./geometry";
import { Journey } from "./journey";
import { Kin } from "./kin";
import { Legend } from "./legend";
import { Link } from "./link";
import { Log } from "./log";
import { Look } from "./look";
import { match, MORPH } from "./morph";
import { Notices } from "./notices";
import { Pointer } from "./pointer";
import { Rename } from "./rename";
import { Replay } from "./replay";
import { Search } from "./search";
import { Selection } from "./selection";
import { Stage } from "./stage";
import { shadingOf } from "./shading";
import { State } from "./state";
import { Tabs } from "./tabs";
import { calm, type Themes } from "./theme";
import { Timeline } from "./timeline";
import { isNotice, type Comparison, type Health, type LiveEvent, type LiveSnapshot, type MapInfo, type Notice } from "./types";
import { Updates } from "./updates";
import { Versions, type Version } from "./versions";
import { alarms, count, dated, legible, nameMoments, number, sentence } from "./words";

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

/** Health may lag behind the events by this many seconds, and must not undo what they just said. */
const LAG = 0.8;

/** Seconds that a morph takes when the slider crosses a switch; seconds that new clusters are called out. */
const QUICK = 0.8;
const CALLED = 12;

const clock = (): number => performance.now() / 1000;

export class Dashboard {
  private readonly state = new State();
  private readonly headline = new Headline();
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
  private readonly versions: Versions;
  private readonly journey: Journey;
  private readonly rename: Rename;
  private readonly notices: Notices;
  private readonly updates: Updates;
  private readonly compare: Compare;
  private readonly tabs = new Tabs(() => this.selection.refresh());
  /** Switches to another version: what happens while one is under way waits. */
  private readonly crossing: Crossing;
  private health: Health;
  private stale = true;
  private worded = 0;
  /** When the last notice came. */
  private noticed = 0;
  private before = clock();
  private waning = "";
  private titles = "[]";
  private readonly recording: MapInfo["recording"];

  constructor(private readonly shown: Version, live: LiveSnapshot, private readonly themes: Themes) {
    const map = shown.info;
    this.recording = map.recording;
    this.versions = new Versions(shown);
    this.journey = new Journey(this.state, this.log, this.versions);
    this.health = live.health;
    this.look = new Look(shown, this.state);
    this.state.load(live);
    this.state.retitle(map, live);
    for (const { label } of this.state.points.values()) this.look.meet(label);
    this.stage = new Stage(shown, this.state, this.look, themes, clock);
    this.kin = new Kin(this.state, (row) => this.look.clusterOfRow(row));
    this.stage.scene.like = (group) => this.kin.group(group);
    this.feed = new Feed(byId("feed"), {
      like: (ids) => this.kin.of(ids),
      size: (event) => this.sizes.get(event),
      little: extent(map) * 0.06,
      title: (name) => this.look.title(name),
      event: (n) => this.log.at(n),
      columns: map.recording ? null : map.columns,
      colour: (name) => this.look.colour(name),
      go: (event) => {
        this.guide.go(event);
        const cluster = isNotice(event) ? ("cluster" in event ? event.cluster : null) : event.kind === "removed" ? event.from.cluster : event.cluster;
        if (cluster) this.legend.reveal(cluster);
      },
      goMany: (ids) => this.selection.choose(ids.filter((id) => this.state.points.has(id)), []),
      waiting: (many) => {
        byId("tab-feed").textContent = many > 0 ? `What happened · ${number(many)} new` : "What happened";
      },
    });
    this.legend = new Legend(byId("legend"), this.look, (base) => (base ? this.stage.recolour() : this.recolour()),
      (name, beside) => this.retitle(name, this.onStage(beside)));
    this.rename = new Rename(this.stage.root);
    this.notices = new Notices(byId("alarms"), {
      go: (alarm) => this.guide.goAlarm(alarm),
      take: (groups) => {
        this.updates.take(groups);
        // On a small screen the map is elsewhere on the page.
        this.stage.root.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
      },
      failed: (problem) => this.headline.tell(problem),
      changed: () => {
        this.stale = true;
      },
    });
    this.updates = new Updates(byId("update"), () => this.versions.latest, () => {
      this.stale = true;
    });
    this.stage.renames = this.updates.able;
    byId("legend").classList.toggle("renames", this.updates.able);
    if (this.updates.able) void this.notices.refresh();
    this.selection = new Selection(byId("selection"), byId("tab-selection"), this.state, shown, this.look, {
      goPoint: (id) => this.guide.goPoint(id),
      goRow: (row) => this.guide.goRow(row),
      changed: () => this.selected(),
    });
    this.search = new Search(this.state, shown, (found) => this.guide.goFound(found));
    this.guide = new Guide(this.stage, this.state, this.versions, this.look, this.selection, (text) => this.headline.announce(text));
    this.pointer = new Pointer(this.stage, byId<HTMLButtonElement>("lasso"), byId<HTMLButtonElement>("turn"), {
      hover: (picked, x, y) => this.guide.hover(picked, x, y),
      click: (picked, at) => this.guide.click(picked, at),
      name: (id, rect) => this.retitle(id, rect),
      lasso: (path) => {
        const polygon = thin(path, 2).map(({ x, y }) => this.stage.camera.toPlane(x, y));
        this.selection.lasso(polygon, this.stage.rows(), (point) => {
          const at = this.stage.screen(point);
          return this.stage.camera.toPlane(at.x, at.y);
        });
        this.stage.scene.selected.outline = polygon;
      },
    });
    this.replay = new Replay(this.state, this.log, map.recording, {
      jumped: (ids) => this.jumped(ids),
      mode: () => {
        this.stale = true;
        this.pill();
      },
      crosses: (n) => this.journey.crosses(n),
      cross: (n) => this.crossing.go(n, QUICK),
      fetched: (events) => {
        this.kin.learn(events);
        // No server says what is unusual at the end of a recording, where it opens: its events do.
        if (map.recording) this.state.retell(events.filter((event) => isNotice(event) && event.kind !== "renamed") as Notice[]);
        this.stale = true;
      },
      failed: (problem) => this.headline.announce(problem),
    });
    this.compare = this.comparing();
    this.crossing = this.crosser();
    themes.onChange(() => {
      this.legend.fill();
      this.stale = true;
    });
    this.headline.introduce(map);
    const steps = map.recording?.steps;
    if (map.recording) nameMoments(steps ? (t) => steps[t - 1]?.name ?? null : dated);
    // Rates are of time, which snapshots do not have.
    byId("charts").hidden = Boolean(steps);
    this.link = this.connect();
    this.adopt(live);
    this.explain();
    const { stage, legend, pointer, guide, selection, search, replay, compare, link } = this;
    new Controls({ shown, stage, themes, legend, pointer, guide, selection, search, replay, compare, link, recorded: Boolean(map.recording) });
    if (map.recording) for (const part of document.querySelectorAll<HTMLElement>(".compares")) part.hidden = true;
    else {
      this.link.listen();
      void this.compare.resume();
    }
    requestAnimationFrame(() => this.frame());
  }

  private connect(): Link {
    return new Link(() => this.versions.latest, {
      last: () => this.log.last,
      event: (event) => {
        this.log.append(event);
        if (isNotice(event)) this.heard(event);
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
      live: () => {
        this.headline.online();
        this.stale = true;
        this.pill();
      },
      lost: (seconds, reason) => {
        this.headline.offline(seconds, reason);
        this.stale = true;
        this.pill();
      },
      replaced: () => location.reload(),
      latest: () => this.log.at(this.log.last),
      reload: async (why) => {
        const [map, live] = await Promise.all([api.map(), api.live()]);
        await this.replay.goLive().catch(() => {});
        const before = this.versions.show(map.version === this.shown.info.version ? { ...this.shown, info: map } : await this.versions.get(map.version));
        this.versions.latest = this.shown.info;
        this.health = live.health;
        this.state.load(live);
        this.state.retitle(map, live);
        await this.renew(before, new Map(), 0);
        this.adopt(live);
        if (!why) return;
        this.compare.forget();
        this.headline.tell(why);
      },
    });
  }

  private crosser(): Crossing {
    return new Crossing(this.state, this.log, this.versions, this.journey, {
      travel: (n) => this.replay.travel(n),
      landed: (n, happening) => {
        if (!happening) return this.feed.refill(this.log.upTo(n, RETOLD));
        this.feed.add([happening]);
        this.headline.announce(sentence(happening, this.feed.ways));
      },
      renew: (before, places, seconds) => this.renew(before, places, seconds),
      arrived: ({ clusters }) => this.stage.callOut(clusters.born, CALLED),
      failed: (problem) => this.headline.tell(problem),
    });
  }

  private comparing(): Compare {
    return new Compare(new Timeline((n) => this.log.at(n)?.t), {
      range: () => this.replay.range,
      kept: () => this.replay.kept,
      version: () => (this.versions.current && !this.recording ? this.shown.info.version : null),
      mode: (on) => this.tabs.open(on ? "compare" : this.selection.size > 0 ? "selection" : "feed"),
      shown: (answer) => this.compared(answer),
      tell: (text) => this.headline.tell(text),
      title: (name) => this.look.title(name),
      goCluster: (name) => this.guide.goCluster(name),
      goPoint: (point, left) => {
        // It left when the map was another: there is no place to show on this one.
        if (point.version !== this.shown.info.version && !this.state.points.has(point.id)) return this.headline.tell(`${legible(point.id)} left before the map was updated.`);
        this.guide.goCompared(point, left);
        // It was clicked in a table that goes on being read.
        this.tabs.open("compare");
      },
    });
  }

  /** Another answer about two stretches of time, or none. */
  private compared(answer: Comparison | null): void {
    const clusters = answer?.clusters.filter(({ change }) => change !== null) ?? [];
    this.stage.scene.compared = answer && { shading: shadingOf(answer.regions), clusters: new Map(clusters.map((cluster) => [cluster.name, cluster])) };
    this.stale = true;
    this.stage.touch();
  }

  /** Goes on from a snapshot: the log begins after it. */
  private adopt(live: LiveSnapshot): void {
    this.log.restart(live.last);
    this.stage.reload(this.present(live.points.t.reduce((latest, t) => Math.max(latest, t), 0)));
    this.feed.clear();
    this.replay.start(this.shown.info.first);
    if (live.last > 0) void api.before(live.last + 1, RETOLD).then(({ events }) => {
      // What happened meanwhile is told after it.
      if (this.replay.mode === "live" || this.state.last === live.last) this.feed.refill([...events, ...this.log.upTo(this.state.last, this.state.last - live.last)]);
    }).catch(() => {});
    this.stale = true;
  }

  /** Now, as far as the latest time tells; a recording ends with it. */
  private present(latest: number): number {
    return this.recording ? latest : wallClock(latest);
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
    if (this.crossing.busy) return;
    const due: LiveEvent[] = [];
    if (this.replay.mode === "live") {
      while (due.length < BATCH && this.state.last + due.length < this.log.last) {
        due.push(this.log.at(this.state.last + due.length + 1) as LiveEvent);
      }
      this.log.prune();
    } else due.push(...this.replay.due(Math.min(since, 0.1)).slice(0, BATCH));
    // Events before a switch to another version happen first, those after it when it is over.
    const at = due.findIndex(({ kind }) => kind === "map-updated");
    if (at === 0) return void this.crossing.go(due[0].n, MORPH);
    const events = at < 0 ? due : due.slice(0, at);
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

  // ---- versions of the map

  /** Everything that depends on which version is shown. */
  private renew(before: Version, places: ReadonlyMap<string, Spot>, seconds: number): Promise<void> {
    const { state, shown } = this;
    this.stale = true;
    this.look.adopt();
    for (const { label } of state.points.values()) this.look.meet(label);
    this.headline.introduce(shown.info);
    this.updates.show();
    this.legend.fill();
    this.explain();
    if (before.columns === shown.columns) return Promise.resolve();
    this.compare.renew();
    const rows = match(before.columns, shown.columns);
    this.kin.renumber((row) => rows[row] ?? -1);
    this.selection.renumber((row) => rows[row] ?? -1);
    this.guide.renew();
    return this.stage.morph(before, rows, places, this.present(this.log.at(state.last)?.t ?? 0), seconds);
  }

  /** Names of the clusters, made of what is known of them, once the map is on the screen. */
  private explain(): void {
    void this.stage.scene.explained.ask(this.shown.info).then((named) => {
      if (!named) return;
      this.state.named = named;
      this.look.merge(this.stage.scene.explained.merged(this.shown.info.clusters));
      this.legend.fill();
      this.feed.retell();
      this.stage.recolour();
      this.stale = true;
    });
  }

  /** An event that no point has came. */
  private heard(event: Notice): void {
    if (event.kind === "renamed" || !this.updates.able) return;
    void this.notices.refresh();
    // Who looks at the past is told of it when they come back.
    if (event.kind === "map-updated") void api.map().then((info) => {
      this.versions.latest = info;
      this.updates.show();
    }).catch(() => {});
  }

  /** A part of the page in the coordinates of the stage. */
  private onStage(element: Element): Rect {
    const { left, top } = this.stage.root.getBoundingClientRect();
    const { x, y, width, height } = element.getBoundingClientRect();
    return { x: x - left, y: y - top, width, height };
  }

  /** Asks for another title of a cluster or `group-N`. */
  private retitle(id: string, beside: Rect): void {
    const title = this.state.titles.get(id) ?? null;
    this.rename.open(id, title ?? this.state.named.get(id) ?? id.replace(/^group-/, "group "), title, beside);
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
    const titles = JSON.stringify([...state.titles]);
    if (titles !== this.titles) this.legend.fill();
    this.titles = titles;
    this.legend.count(state);
    this.selection.refresh();
    replay.show(this.themes.current);
    this.compare.show();
    this.notices.show(list, live ? { update: this.updates.able && !this.updates.running } : null);
    const open = list.filter((alarm) => !live || !this.notices.dismissed(alarm));
    this.headline.say(this.shown.info.name, state, open);
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
    return [...this.stage.root.querySelectorAll(".notes > :not([hidden]), .tools")].map((element) => {
      const { x, y, width, height } = this.onStage(element);
      return { x: x - 6, y: y - 6, width: width + 12, height: height + 12 };
    });
  }

  /** Seconds since the latest event, as far as its time is that of a clock. */
  private quiet(): number {
    const t = this.log.at(this.log.last)?.t ?? 0;
    return wallClock(t) - t;
  }

  private pill(): void {
    const { log, state } = this;
    this.headline.pill(this.replay.mode, log.at(state.last)?.t, log.last - state.last);
  }

  // ---- what people do

  private recolour(): void {
    this.stage.recolour();
    this.legend.count(this.state);
  }

  private selected(): void {
    this.stage.scene.selected = { ids: this.selection.ids, rows: this.selection.rows, outline: [] };
    this.stage.touch();
    this.tabs.open(this.selection.size > 0 ? "selection" : this.compare.on ? "compare" : "feed");
    if (this.selection.size > 0) this.headline.announce(`${count(this.selection.size, "point")} selected`);
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
