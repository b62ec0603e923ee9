import {
  ApiError,
  emptyView,
  foldEvents,
  foldItem,
  viewOf,
  type ConversationView,
  type FollowItem,
  type FollowOptions,
  type LiveAnswer,
} from "@convoke/client";
import type { Event } from "@convoke/protocol";
import { liveOptions, recordAt, type Row, textAt, type UnknownRecord } from "@convoke/client/view";
import { Cell } from "../lib/store.ts";
import { trimAt, upTo, type LogPage } from "./log-page.ts";
import { PaintScheduler, minIntervalMs } from "./paint-scheduler.ts";
import type { ScrollPosition } from "./scroll-position.ts";
import { RowWindow } from "./row-window.ts";

/** What an open log reads from the server. */
export type LogSource = {
  readonly conversation: (id: string) => Promise<UnknownRecord>;
  /** A page up to the event with this id, or to the end of the log where the id is empty. */
  readonly older: (id: string, pageId: string) => Promise<LogPage>;
  /** A page from the event with this id on. */
  readonly newer: (id: string, pageId: string) => Promise<LogPage>;
  readonly follow: (id: string, options: FollowOptions) => AsyncIterable<FollowItem>;
};

export type LogDeps = {
  readonly source: LogSource;
  /** Calls back before the next paint: changes until then are rendered together. */
  readonly nextFrame: (callback: () => void) => void;
  readonly now: () => number;
  readonly onFailure: (error: unknown) => void;
};

/** State of the connection to the server; not the state of the agent (P36). */
export type Link = { readonly state: "connecting" | "connected" | "lost"; readonly sinceMs: number };

export type LogView = {
  readonly phase: "loading" | "ready" | "missing" | "failed";
  readonly rows: readonly Row[];
  /** The newest rows of the log; identical to `rows` if the window includes the end. */
  readonly newest: readonly Row[];
  /** The state of the conversation. Deltas of an answer do not change it. */
  readonly state: ConversationView;
  readonly hasOlder: boolean;
  /** True if newer rows exist that are not in the window. */
  readonly hasNewer: boolean;
  /** Id of the newest event that was read; null for an empty log. */
  readonly lastEventId: string | null;
};

/**
 * The loaded part of one conversation's log: a window of rows, at the end of the log or around an older event. The
 * window grows in both directions and follows the log once it reaches the end. All of it is a fold of events.
 */
export class OpenLog {
  readonly id: string;
  readonly view: Cell<LogView>;
  readonly live = new Cell<LiveAnswer | null>(null);
  /** The latest output of running tools, by action id. */
  readonly progress = new Cell<ReadonlyMap<string, string>>(new Map());
  readonly link: Cell<Link>;
  readonly #deps: LogDeps;
  readonly #at: string;
  readonly #past: UnknownRecord | null;
  readonly #times: PaintScheduler;
  #window = new RowWindow();
  #state = emptyView;
  /** The state without the latest deltas. */
  #shown = emptyView;
  #loading: Promise<void> | null = null;
  #loadingOlder: Promise<void> | null = null;
  #loadingNewer: Promise<void> | null = null;
  #following: AbortController | null = null;
  #wake: (() => void) | null = null;
  #progress: ReadonlyMap<string, string> = new Map();
  #isLoaded = false;
  #place: ScrollPosition | null = null;
  /** True once the end of the log was reached: from then on the log is followed, whatever the window shows. */
  #hasFollowed = false;

  /**
   * `at`: the event that the window is around; empty for the end of the log. With `past`, the window ends at that
   * event.
   */
  constructor(id: string, deps: LogDeps, at = "", past: UnknownRecord | null = null) {
    this.id = id;
    this.#deps = deps;
    this.#at = at;
    this.#past = past;
    this.view = new Cell<LogView>({
      phase: "loading",
      rows: [],
      newest: [],
      state: emptyView,
      hasOlder: false,
      hasNewer: false,
      lastEventId: null,
    });
    this.link = new Cell<Link>({ state: "connecting", sinceMs: deps.now() });
    const { nextFrame, now } = deps;
    this.#times = new PaintScheduler({ nextFrame, now, paint: () => this.#paint() });
  }

  /** The scroll position at which the user left the log; null if there is none, or if it no longer applies. */
  get place(): ScrollPosition | null {
    return this.#place;
  }

  leave(place: ScrollPosition | null): void {
    this.#place = place;
  }

  /** Starts loading before the log is shown. */
  prepare(): void {
    // The view loads again and shows the error.
    if (!this.#isLoaded) this.#loadOnce().catch(() => {});
  }

  /** Loads the end of the log unless it is loaded, and follows it. */
  show(): void {
    if (this.#following !== null) return;
    const following = new AbortController();
    this.#following = following;
    void this.#run(following.signal);
  }

  /** Stops following; loaded rows stay. */
  hide(): void {
    this.#following?.abort();
    this.#following = null;
    this.#wake = null;
    this.#times.stop();
  }

  /** For a page that becomes visible or is online again: reconnects at once. */
  wake(): void {
    if (this.#wake !== null) this.#wake();
    else if (this.view.snapshot().phase !== "missing") this.show();
  }

  /** Loads the page before the oldest row; one request at a time. */
  loadOlder(): Promise<void> {
    this.#loadingOlder ??= this.#loadOlder().finally(() => (this.#loadingOlder = null));
    return this.#loadingOlder;
  }

  /** Loads the page after the newest row of the window; one request at a time. */
  loadNewer(): Promise<void> {
    this.#loadingNewer ??= this.#loadNewer().finally(() => (this.#loadingNewer = null));
    return this.#loadingNewer;
  }

  /**
   * Evicts rows before `first`, or else after `last`, if the window is large. They can be loaded again; new events
   * at the end of the log are still followed.
   */
  evictOutside(first: string, last: string): void {
    if (this.#window.evictOutside(first, last)) this.#paint();
  }

  /** Moves the window to the end of the log. */
  toEnd(): void {
    if (this.#window.toEnd()) this.#paint();
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      if (!this.#isLoaded) await this.#loadOnce();
      // A window of the past follows nothing.
      const isWindow = this.#window.newerPageId !== null && !this.#hasFollowed;
      if (signal.aborted || isWindow || this.#past !== null) return;
      await this.#follow(signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#following = null;
      if (error instanceof ApiError && error.status === 404) return this.#setPhase("missing");
      if (error instanceof ApiError && error.status === 422 && this.#isLoaded) return this.#startOver();
      this.#deps.onFailure(error);
      this.#setLink("lost");
      if (!this.#isLoaded) this.#setPhase("failed");
    }
  }

  /** Starts over: the server lost the newest event that was read, so the loaded rows may not exist either. */
  #startOver(): void {
    this.#window = new RowWindow();
    this.#state = emptyView;
    this.#isLoaded = false;
    this.#hasFollowed = false;
    this.show();
  }

  /** Concurrent callers share one request. */
  #loadOnce(): Promise<void> {
    this.#loading ??= this.#load().finally(() => (this.#loading = null));
    return this.#loading;
  }

  async #load(): Promise<void> {
    const { source } = this.#deps;
    const at = this.#at;
    const past = this.#past;
    const [info, page, newer] = await Promise.all([
      recordAt(past, "conversation") ?? source.conversation(this.id),
      source.older(this.id, at),
      at === "" || past !== null ? null : source.newer(this.id, at),
    ]);
    this.#state = viewOf(info);
    if (past !== null) this.#foldSignal({ ...past, kind: "Standing" });
    this.#window.takeOlder(page);
    // The REST conversation has no field for a pending retry of a model call.
    if (newer === null)
      this.#state = foldEvents(
        this.#state,
        page.events.filter(({ key }) => key === "model_retry") as unknown as Event[],
      );
    else this.#window.takeNewer(newer);
    this.#shown = this.#state;
    this.#isLoaded = true;
    this.#paint();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    this.#hasFollowed = true;
    const items = this.#deps.source.follow(this.id, {
      afterEventId: this.#window.lastEventId,
      signal,
      ...liveOptions,
      beat: minIntervalMs,
      trim: trimAt,
      onConnection: ({ state }) => {
        if (!signal.aborted && state !== "ended") this.#setLink(state);
      },
      retryNow: (wake) => {
        this.#wake = wake;
        return () => {
          if (this.#wake === wake) this.#wake = null;
        };
      },
    });
    for await (const item of items) {
      if (signal.aborted) return;
      if (item.type === "signal") this.#takeSignal(item.frame);
      else {
        this.#state = foldItem(this.#state, item);
        this.#takeEvent(item.trimmed === null ? item.event : { ...item.event, is_cut: true });
      }
    }
  }

  #takeSignal(frame: UnknownRecord): void {
    if (frame["kind"] === "ToolProgress")
      this.#progress = new Map([...this.#progress, [textAt(frame, "action_id"), textAt(frame, "text")]]);
    else this.#foldSignal(frame);
    if (deltaKinds.has(textAt(frame, "kind"))) return this.#times.together();
    this.#shown = this.#state;
    this.#times.soon();
  }

  #foldSignal(frame: UnknownRecord): void {
    this.#state = foldItem(this.#state, { type: "signal", frame });
  }

  #takeEvent(event: UnknownRecord): void {
    this.#window.takeNew(event);
    this.#shown = this.#state;
    // The final output replaces the streamed one.
    if (this.#progress.size > 0 && textAt(event, "action_id") !== "") this.#progress = new Map();
    this.#times.soon();
  }

  async #loadOlder(): Promise<void> {
    const { olderPageId: pageId } = this.#window;
    if (pageId === null) return;
    try {
      const page = await this.#deps.source.older(this.id, pageId);
      // The window may have moved during the request.
      if (this.#window.olderPageId !== pageId) return;
      this.#window.takeOlder(page);
      this.#paint();
    } catch (error) {
      // The button, or further scrolling, retries.
      this.#deps.onFailure(error);
    }
  }

  async #loadNewer(): Promise<void> {
    const { newerPageId: pageId } = this.#window;
    if (pageId === null) return;
    try {
      const page = await this.#deps.source.newer(this.id, pageId);
      // The window may have moved during the request.
      if (this.#window.newerPageId !== pageId) return;
      this.#window.takeNewer(this.#past === null ? page : upTo(page, this.#at));
      this.#paint();
    } catch (error) {
      // Further scrolling retries.
      this.#deps.onFailure(error);
      return;
    }
    const signal = this.#following?.signal;
    if (this.#window.newerPageId === null && signal !== undefined && !this.#hasFollowed)
      void this.#run(signal);
  }

  #paint(): void {
    const { rows, newest, olderPageId, newerPageId, lastEventId } = this.#window;
    const view: LogView = {
      phase: "ready",
      rows,
      newest,
      state: this.#shown,
      hasOlder: olderPageId !== null,
      hasNewer: newerPageId !== null,
      lastEventId,
    };
    // A delta changes no row: only the live answer is rendered again.
    if (!isSameView(this.view.snapshot(), view)) this.view.set(view);
    // The live answer is after the end of the log.
    const begun = this.#state.answers.findLast(({ items }) => items.length > 0) ?? null;
    this.live.set(newerPageId === null ? begun : null);
    this.progress.set(this.#progress);
  }

  #setPhase(phase: LogView["phase"]): void {
    this.view.set({ ...this.view.snapshot(), phase });
  }

  #setLink(state: Link["state"]): void {
    const { state: before } = this.link.snapshot();
    // Show "connecting" after "lost" as still lost, until it is connected.
    if (before === state || (before === "lost" && state === "connecting")) return;
    this.link.set({ state, sinceMs: this.#deps.now() });
  }
}

/** Frame types that arrive many times a second. */
const deltaKinds: ReadonlySet<string> = new Set(["AnswerDelta", "StreamingDeltaEvent", "ToolProgress"]);

function isSameView(before: LogView, after: LogView): boolean {
  return (Object.keys(after) as (keyof LogView)[]).every((key) => before[key] === after[key]);
}
