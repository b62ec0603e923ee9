import { createHash } from "node:crypto";
import type { ApplicationDatabase } from "../../database/application-database.ts";
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
    const [row] = await database.read(
      database.tables
        .selectFrom("chats")
        .select("conversation_id")
        .where("user_id", "=", userId)
        .where("digest", "=", digestOf(model, history)),
    );
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
    const values = { conversation_id: conversationId, updated_at: clock.nowMs() };
    try {
      await database.commitSoon(async (tables) => {
        await tables
          .insertInto("chats")
          .values({ user_id: userId, digest: digestOf(model, history), ...values })
          .onConflict((conflict) => conflict.columns(["user_id", "digest"]).doUpdateSet(values))
          .execute();
      });
      this.#remembered += 1;
      if (this.#remembered % sweepEvery === 0) await this.#forgetOldest(userId);
    } catch (error) {
      logger.warn({ conversation: conversationId, error: String(error) }, "a chat could not be remembered");
    }
  }

  async #forgetOldest(userId: string): Promise<void> {
    await this.#deps.database.transaction(async (tables) => {
      const stored = await tables
        .selectFrom("chats")
        .select("updated_at")
        .where("user_id", "=", userId)
        .orderBy("updated_at", "desc")
        .offset(maxChatsPerUser)
        .limit(1)
        .executeTakeFirst();
      if (stored === undefined) return;
      await tables
        .deleteFrom("chats")
        .where("user_id", "=", userId)
        .where("updated_at", "<=", stored.updated_at)
        .execute();
    });
  }
}

function digestOf(model: string, history: readonly ChatTurn[]): string {
  const turns = history.map(({ role, text }) => [role, text.trim()]);
  return createHash("sha256")
    .update(JSON.stringify([model, turns]))
    .digest("base64url");
}
