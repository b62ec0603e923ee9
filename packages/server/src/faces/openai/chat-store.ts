import { createHash } from "node:crypto";
import type { ApplicationDatabase } from "../../database/application-database.ts";
import { putRow, removalBeyond, rowsWith } from "../../database/rows.ts";
import type { Logger } from "../../lib/logger.ts";
import type { ChatTurn } from "./chat-input.ts";
import type { Clock } from "../../lib/clock.ts";

export type ChatStoreDeps = {
  readonly database: ApplicationDatabase;
  readonly clock: Clock;
  readonly logger: Logger;
};

const maxChatsPerUser = 5_000;
/** The oldest are deleted after that many new ones. */
const sweepEvery = 100;

/**
 * Maps chats to conversations: clients of this wire send the whole chat each time, without an id. The mapping is stored
 * for all nodes. An unknown chat begins a new conversation, which gets the history.
 */
export class ChatStore {
  readonly #deps: ChatStoreDeps;
  #remembered = 0;

  constructor(deps: ChatStoreDeps) {
    this.#deps = deps;
  }

  async find(userId: string, model: string, history: readonly ChatTurn[]): Promise<string | null> {
    if (history.length === 0) return null;
    const { database } = this.#deps;
    const wanted = { user_id: userId, digest: digestOf(model, history) };
    const [row] = await database.read(rowsWith(database.tables, "chats", wanted));
    return row?.conversation_id ?? null;
  }

  /** Never rejects: an answer is worth more than the stored mapping. */
  async remember(
    userId: string,
    model: string,
    history: readonly ChatTurn[],
    conversationId: string,
  ): Promise<void> {
    const { database, clock, logger } = this.#deps;
    const row = {
      user_id: userId,
      digest: digestOf(model, history),
      conversation_id: conversationId,
      updated_at: clock.nowMs(),
    };
    try {
      await database.commitSoon((tables) => putRow(tables, "chats", row));
      this.#remembered += 1;
      if (this.#remembered % sweepEvery === 0) await this.#forgetOldest(userId);
    } catch (error) {
      logger.warn({ conversation: conversationId, error: String(error) }, "a chat could not be remembered");
    }
  }

  async #forgetOldest(userId: string): Promise<void> {
    const newest = { column: "updated_at", max: maxChatsPerUser } as const;
    await removalBeyond(this.#deps.database.tables, "chats", { user_id: userId }, newest).execute();
  }
}

function digestOf(model: string, history: readonly ChatTurn[]): string {
  const turns = history.map(({ role, text }) => [role, text.trim()]);
  return createHash("sha256")
    .update(JSON.stringify([model, turns]))
    .digest("base64url");
}
