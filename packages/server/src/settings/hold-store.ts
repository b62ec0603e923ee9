import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Clock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";

/** Why a conversation must not be deleted, and since when. */
export type Hold = {
  readonly conversationId: string;
  readonly userId: string;
  readonly reason: string;
  readonly heldAtMs: number;
};

/** The conversations that nothing deletes until their hold is lifted; every read is of the store, so that all nodes agree. */
export class HoldStore {
  readonly #database: ApplicationDatabase;
  readonly #clock: Clock;

  constructor({ database, clock }: { readonly database: ApplicationDatabase; readonly clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /** The holds of these conversations. */
  async of(ids: readonly string[]): Promise<Map<string, Hold>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#database.tables
      .selectFrom("conversation_holds")
      .selectAll()
      .where("conversation_id", "in", [...ids])
      .execute();
    return new Map(rows.map((row) => [row.conversation_id, toHold(row)]));
  }

  /** The holds of a user, the newest first, at most a thousand. */
  async list(userId: string): Promise<Hold[]> {
    const rows = await this.#database.tables
      .selectFrom("conversation_holds")
      .selectAll()
      .where("user_id", "=", userId)
      .orderBy("held_at", "desc")
      .limit(1_000)
      .execute();
    return rows.map(toHold);
  }

  /** Rejects with 409 while one of these conversations is held. */
  async requireFree(ids: readonly string[]): Promise<void> {
    const [hold] = (await this.of(ids)).values();
    if (hold !== undefined) throw heldFault(hold);
  }

  /** Holds a conversation, or gives its hold another reason. */
  async set(userId: string, conversationId: string, reason: string): Promise<Hold> {
    const values = { reason, held_at: this.#clock.nowMs() };
    await this.#database.tables
      .insertInto("conversation_holds")
      .values({ conversation_id: conversationId, user_id: userId, ...values })
      .onConflict((conflict) => conflict.column("conversation_id").doUpdateSet(values))
      .execute();
    return { conversationId, userId, reason, heldAtMs: values.held_at };
  }

  async lift(conversationId: string): Promise<void> {
    await this.#database.tables
      .deleteFrom("conversation_holds")
      .where("conversation_id", "=", conversationId)
      .execute();
  }
}

function toHold(row: {
  readonly conversation_id: string;
  readonly user_id: string;
  readonly reason: string;
  readonly held_at: number;
}): Hold {
  return {
    conversationId: row.conversation_id,
    userId: row.user_id,
    reason: row.reason,
    heldAtMs: row.held_at,
  };
}

function heldFault({ conversationId, reason }: Hold): Fault {
  const why = reason === "" ? "" : ` (${reason})`;
  return new Fault(
    "conflict",
    "conversation_held",
    `Conversation ${conversationId} is on hold${why}. Lift the hold first: DELETE /api/conversations/${conversationId}/hold`,
  );
}
