import { ApiError } from "@convoke/client";
import type { WhileRunning } from "@convoke/protocol";
import { asRecord, textAt, textsAt } from "@convoke/client/view";
import { Cell, type Store } from "../lib/store.ts";
import type { BrowserStorage } from "../lib/browser-storage.ts";

/** A message that is being sent. It is removed when the log contains its event. */
export type Outgoing = {
  /** The `client_message_id`: sending it again adds nothing. */
  readonly id: string;
  readonly conversationId: string;
  readonly text: string;
  /** `data:` addresses. */
  readonly images: readonly string[];
  /** What it does while the agent works; absent for the default of the conversation. */
  readonly whileRunning?: WhileRunning | undefined;
  readonly state: "waiting" | "sent" | "refused";
  /** The server's error message, if it refused. */
  readonly problem: string | null;
  /** The id of its event, once the server has acknowledged it. */
  readonly eventId: string | null;
};

export type OutboxDeps = {
  readonly storage: BrowserStorage;
  /** Resolves with the id of the message's event. */
  readonly send: (message: Outgoing) => Promise<string | null>;
  /** Calls back after `ms`; returns a function that cancels it. */
  readonly later: (ms: number, callback: () => void) => () => void;
};

const storageKey = "outbox";

/**
 * Sends messages until the server has them, over disconnects and closed pages: never lost, and in the log once
 * (U16).
 */
export class Outbox implements Store<readonly Outgoing[]> {
  readonly #deps: OutboxDeps;
  readonly #cell: Cell<readonly Outgoing[]>;
  #isSending = false;
  #failures = 0;
  #cancelRetry: () => void = () => {};

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    this.#cell = new Cell(readStored(deps.storage));
  }

  get snapshot(): () => readonly Outgoing[] {
    return this.#cell.snapshot;
  }

  get subscribe(): (onChange: () => void) => () => void {
    return this.#cell.subscribe;
  }

  /**
   * Adds a message; false if the browser cannot store it, so that it is lost if the page closes before it is sent.
   */
  add(message: Omit<Outgoing, "state" | "problem" | "eventId">): boolean {
    const isStored = this.#set([
      ...this.#cell.snapshot(),
      { ...message, state: "waiting", problem: null, eventId: null },
    ]);
    void this.flush();
    return isStored;
  }

  /** Removes a message: its event is in the log, or the user withdrew it. */
  remove(id: string): void {
    this.#set(this.#cell.snapshot().filter((message) => message.id !== id));
  }

  /** Sends pending messages in order; a refused one stays, a network error is retried. */
  async flush(): Promise<void> {
    this.#cancelRetry();
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) {
        if (!(await this.#send(next))) return;
      }
    } finally {
      this.#isSending = false;
    }
  }

  #next(): Outgoing | undefined {
    return this.#cell.snapshot().find(({ state }) => state === "waiting");
  }

  async #send(message: Outgoing): Promise<boolean> {
    try {
      const eventId = await this.#deps.send(message);
      this.#failures = 0;
      if (eventId === null) this.remove(message.id);
      else this.#change(message.id, { state: "sent", eventId });
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status < 500 && error.status !== 401 && error.status !== 429) {
        this.#change(message.id, { state: "refused", problem: error.message });
        return true;
      }
      // Unreachable, not ready, or logged out: the same message is sent again later and counts once.
      this.#failures += 1;
      this.#cancelRetry = this.#deps.later(
        Math.min(10_000, 500 * 2 ** this.#failures),
        () => void this.flush(),
      );
      return false;
    }
  }

  #change(id: string, change: Pick<Outgoing, "state"> & Partial<Outgoing>): void {
    this.#set(
      this.#cell.snapshot().map((message) => (message.id === id ? { ...message, ...change } : message)),
    );
  }

  #set(messages: readonly Outgoing[]): boolean {
    this.#cell.set(messages);
    if (messages.length > 0) return this.#deps.storage.write(storageKey, messages);
    this.#deps.storage.remove(storageKey);
    return true;
  }
}

/**
 * The unsent messages of an earlier page. A message that was sent but not seen in the log is sent again: it counts
 * once.
 */
function readStored(storage: BrowserStorage): readonly Outgoing[] {
  const stored = storage.read(storageKey);
  if (!Array.isArray(stored)) return [];
  return stored.flatMap((item) => {
    const fields = asRecord(item);
    if (textAt(fields, "id") === "" || textAt(fields, "conversationId") === "") return [];
    // Only a refused message has one.
    const problem = textAt(fields, "problem") || null;
    return [
      {
        ...(item as Pick<Outgoing, "id" | "conversationId" | "whileRunning">),
        text: textAt(fields, "text"),
        images: textsAt(fields, "images"),
        state: problem === null ? ("waiting" as const) : ("refused" as const),
        problem,
        eventId: null,
      },
    ];
  });
}
