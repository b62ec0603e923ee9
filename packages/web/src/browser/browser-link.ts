import { ApiError, type ConvokeClient } from "@convoke/client";
import type { BrowserFrame, BrowserInput, ShownTab } from "@convoke/protocol";
import { Inputs } from "../lib/inputs.ts";
import { Cell, type Store } from "../lib/store.ts";

export type BrowserPicture = Omit<Extract<BrowserFrame, { type: "picture" }>, "type">;

/** The state of a conversation's browser. */
export type BrowserView = {
  /** False while disconnected. */
  readonly isConnected: boolean;
  readonly isOpen: boolean;
  readonly tabs: readonly ShownTab[];
  readonly picture: BrowserPicture | null;
  readonly isLent: boolean;
  readonly isYours: boolean;
  /** The server's error message. */
  readonly problem: string | null;
};

const nothing: BrowserView = {
  isConnected: false,
  isOpen: false,
  tabs: [],
  picture: null,
  isLent: false,
  isYours: false,
  problem: null,
};

const retryMs = 1_500;

type Client = Pick<ConvokeClient, "attachBrowser">;

/** Follows the browser of a conversation from `start` to `stop`, and reconnects. A disconnect gives back control. */
export class BrowserLink implements Store<BrowserView> {
  readonly #client: Client;
  readonly #id: string;
  readonly #view = new Cell<BrowserView>(nothing);
  #inputs = new Inputs<BrowserInput>();
  #watching: AbortController | null = null;

  constructor(client: Client, conversationId: string) {
    this.#client = client;
    this.#id = conversationId;
  }

  readonly snapshot = (): BrowserView => this.#view.snapshot();
  readonly subscribe = (onChange: () => void): (() => void) => this.#view.subscribe(onChange);

  start(): void {
    if (this.#watching !== null) return;
    this.#watching = new AbortController();
    void this.#watch(this.#watching.signal);
  }

  stop(): void {
    this.#watching?.abort();
    this.#watching = null;
    this.#inputs.end();
    this.#view.set({ ...this.snapshot(), isConnected: false, isLent: false, isYours: false });
  }

  send(input: BrowserInput): void {
    if (input.type === "take" || input.type === "give") this.#change({ problem: null });
    this.#inputs.push(input);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const inputs = new Inputs<BrowserInput>();
      this.#inputs = inputs;
      try {
        for await (const frame of this.#client.attachBrowser(this.#id, { inputs, signal }))
          if (!signal.aborted) this.#take(frame);
      } catch (error) {
        // Reconnects after a network error; a refusal is final.
        if (error instanceof ApiError && !signal.aborted) return this.#change({ problem: error.message });
      }
      inputs.end();
      if (signal.aborted) return;
      this.#change({ isConnected: false, isLent: false, isYours: false });
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, retryMs);
        signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
      });
    }
  }

  #take(frame: BrowserFrame): void {
    switch (frame.type) {
      case "state":
        this.#change({
          isConnected: true,
          isOpen: frame.is_open,
          tabs: frame.tabs,
          ...(frame.is_open ? {} : { picture: null }),
        });
        return;
      case "picture":
        this.#change({ picture: { data: frame.data, width: frame.width, height: frame.height } });
        return;
      case "lent":
        this.#change({ isLent: frame.is_lent, isYours: frame.is_yours });
        return;
      case "refused":
        this.#change({ isConnected: true, problem: frame.reason });
    }
  }

  #change(change: Partial<BrowserView>): void {
    this.#view.set({ ...this.snapshot(), ...change });
  }
}
