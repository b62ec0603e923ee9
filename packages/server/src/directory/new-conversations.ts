import { noMarks, type ConversationRow, type Journal, type NewConversation } from "../journal/journal.ts";
import type { Clock } from "../lib/clock.ts";
import type { Conversation } from "../engine/conversation.ts";
import type { SendInput } from "../engine/conversation-deps.ts";
import type { LogDeps } from "../engine/conversation-log.ts";
import { Creation } from "./creation.ts";
import { serverClosing } from "../engine/refusals.ts";

/** Receives new conversations. */
export interface Loader {
  begin(row: ConversationRow, log: LogDeps): Promise<Conversation>;
  /** Called when it is durable, before any other operation on it. */
  stored(row: NewConversation, begun: Promise<Conversation>): void;
  /** Called when the creation failed. */
  gone(id: string): void;
}

export type NewConversationsDeps = {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly loader: Loader;
};

/**
 * Conversations created with a message, until that is durable: row, lease and first events are one commit, and
 * nobody finds them before it.
 */
export class NewConversations implements AsyncDisposable {
  readonly #deps: NewConversationsDeps;
  /**
   * By id: creations of the same id run one after another, and a later one never meets the first one's tools before
   * ownership is checked.
   */
  readonly #creating = new Map<string, Promise<boolean>>();
  readonly #begun = new Set<Conversation>();
  #isClosed = false;

  constructor(deps: NewConversationsDeps) {
    this.#deps = deps;
  }

  get isAtRest(): boolean {
    return this.#creating.size === 0;
  }

  /** False if the id is taken. If the message is refused, the conversation exists without it. */
  async create(row: NewConversation, first: SendInput): Promise<boolean> {
    for (let other; (other = this.#creating.get(row.id)) !== undefined;)
      // The error goes to its own caller.
      await other.catch(() => false);
    const creating = this.#create(row, first).finally(() => this.#creating.delete(row.id));
    this.#creating.set(row.id, creating);
    return await creating;
  }

  /** Ends pending creations; later ones are refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#begun].map((conversation) => conversation[Symbol.asyncDispose]()));
  }

  async #create(row: NewConversation, first: SendInput): Promise<boolean> {
    const { clock, journal, loader } = this.#deps;
    if ((await journal.ownerOf(row.id)) !== null) return false;
    if (this.#isClosed) throw serverClosing();
    const creation = new Creation({ clock, journal, row, onStored: () => loader.stored(row, begun) });
    const begun = loader.begin({ ...row, lastSeq: 0, marks: noMarks }, creation);
    const conversation = await begun;
    this.#begun.add(conversation);
    try {
      await conversation.send(first);
      return true;
    } catch (error) {
      // Records of hooks may still be pending.
      await conversation.queue.settled();
      if (creation.isTaken) return false;
      if (!creation.isStored) await creation.store(null);
      throw error;
    } finally {
      this.#begun.delete(conversation);
      if (!creation.isStored) {
        await conversation[Symbol.asyncDispose]();
        loader.gone(row.id);
      }
    }
  }
}
