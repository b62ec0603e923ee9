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
  /** Changes that arrive within one frame are rendered once. */
  readonly nextFrame: (callback: () => void) => void;
  readonly onFailure: (error: unknown) => void;
  /** Called when the connection is open, at first and after each reconnect. */
  readonly onConnected: () => void;
};

const shown = 200;

/** The live list of conversations, followed over one socket while the user is logged in. */
export class OverviewStore implements Store<Overview> {
  /** Counts reconnects. */
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

  /** Reconnects at once; for a page that resumes from sleep. */
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
      // Archived conversations are not listed.
      else if (item.summary.is_archived) this.#summaries.delete(item.summary.id);
      else this.#summaries.set(item.summary.id, toSummary(item.summary));
      this.#draw(item.type === "listed" ? "ready" : this.#cell.snapshot().phase);
    }
  }

  /** Removes conversations that were deleted during a disconnect: they are missing in the first list after it. */
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
