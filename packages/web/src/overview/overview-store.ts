import type { OverviewItem, OverviewOptions } from "@convoke/client";
import { Cell, type Store } from "../lib/store.ts";
import { type Summary, toSummary } from "./summary.ts";

export type Overview = {
  /** Newest activity first. */
  readonly summaries: readonly Summary[];
  readonly phase: "loading" | "ready" | "failed";
};

export type OverviewDeps = {
  readonly follow: (options: OverviewOptions) => AsyncIterable<OverviewItem>;
  /** Changes of one frame are drawn once. */
  readonly nextFrame: (callback: () => void) => void;
  readonly onFailure: (error: unknown) => void;
  /** The server can be reached, for the first time or again. */
  readonly onConnected: () => void;
};

const shown = 200;

/** The list of conversations as it is now, followed over one socket while somebody is logged in. */
export class OverviewStore implements Store<Overview> {
  /** How often the server could be reached again. */
  readonly connections = new Cell(0);
  readonly #deps: OverviewDeps;
  readonly #cell = new Cell<Overview>({ summaries: [], phase: "loading" });
  #summaries = new Map<string, Summary>();
  #isDrawing = false;
  #wake: (() => void) | null = null;

  constructor(deps: OverviewDeps) {
    this.#deps = deps;
  }

  get snapshot(): () => Overview {
    return this.#cell.snapshot;
  }

  get subscribe(): (onChange: () => void) => () => void {
    return this.#cell.subscribe;
  }

  /** Follows until the signal aborts. */
  start(signal: AbortSignal): void {
    this.#follow(signal).catch((error: unknown) => {
      if (signal.aborted) return;
      this.#deps.onFailure(error);
      this.#cell.set({ ...this.#cell.snapshot(), phase: "failed" });
    });
  }

  /** Ends a wait for the next try; for a page that comes back from sleep. */
  wake(): void {
    this.#wake?.();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const options: OverviewOptions = {
      limit: shown,
      signal,
      retryNow: (wake) => {
        this.#wake = wake;
        return () => (this.#wake = null);
      },
      onConnection: ({ state }) => {
        if (state === "connected") {
          this.connections.set(this.connections.snapshot() + 1);
          this.#deps.onConnected();
        }
        if (state === "lost" && this.#cell.snapshot().phase === "loading")
          this.#cell.set({ summaries: [], phase: "failed" });
      },
    };
    for await (const item of this.#deps.follow(options)) {
      if (item.type === "listed") this.#retainOnly(item.ids);
      else if (item.type === "gone") this.#summaries.delete(item.id);
      // The list has none that are put away.
      else if (item.summary.is_archived) this.#summaries.delete(item.summary.id);
      else this.#summaries.set(item.summary.id, toSummary(item.summary));
      this.#draw(item.type === "listed" ? "ready" : this.#cell.snapshot().phase);
    }
  }

  /** What was removed while there was no connection is not in the first list of the next one. */
  #retainOnly(ids: readonly string[]): void {
    const listed = new Set(ids);
    for (const id of this.#summaries.keys()) if (!listed.has(id)) this.#summaries.delete(id);
  }

  #draw(phase: Overview["phase"]): void {
    if (phase !== "ready" || this.#isDrawing) return;
    this.#isDrawing = true;
    this.#deps.nextFrame(() => {
      this.#isDrawing = false;
      const summaries = [...this.#summaries.values()].toSorted(byActivity);
      this.#cell.set({ summaries, phase: "ready" });
    });
  }
}

const byActivity = (left: Summary, right: Summary): number =>
  right.updatedAt.localeCompare(left.updatedAt) || right.id.localeCompare(left.id);
