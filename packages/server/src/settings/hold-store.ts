import { Fault } from "../lib/fault.ts";

import type { Selectable } from "kysely";
import { putRow, removeRows, rowsWith } from "../database/rows.ts";
import type { Tables } from "../database/tables.ts";
import type { StoreDeps } from "./store-deps.ts";

/** Why a conversation must not be deleted, and since when. */
export type Hold = Selectable<Tables["conversation_holds"]>;

/** The conversations that nothing deletes until their hold is lifted; every read is of the store, so that all nodes agree. */
export class HoldStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  /** The holds of these conversations. */
  async of(ids: readonly string[]): Promise<Map<string, Hold>> {
    if (ids.length === 0) return new Map();
    const { tables } = this.#deps.database;
    const rows = await rowsWith(tables, "conversation_holds", { conversation_id: ids }).execute();
    return new Map(rows.map((row) => [row.conversation_id, row]));
  }

  /** The holds of a user, the newest first, at most a thousand. */
  async list(userId: string): Promise<Hold[]> {
    const query = rowsWith(this.#deps.database.tables, "conversation_holds", { user_id: userId });
    return await query.orderBy("held_at", "desc").limit(1_000).execute();
  }

  /** Rejects with 409 while one of these conversations is held. */
  async requireFree(ids: readonly string[]): Promise<void> {
    const [hold] = (await this.of(ids)).values();
    if (hold !== undefined) throw heldFault(hold);
  }

  /** Holds a conversation, or gives its hold another reason. */
  async set(userId: string, conversationId: string, reason: string): Promise<Hold> {
    const { database, clock } = this.#deps;
    const hold = { conversation_id: conversationId, user_id: userId, reason, held_at: clock.nowMs() };
    await putRow(database.tables, "conversation_holds", hold);
    return hold;
  }

  async lift(conversationId: string): Promise<void> {
    await removeRows(this.#deps.database.tables, "conversation_holds", { conversation_id: conversationId });
  }
}

function heldFault({ conversation_id: id, reason }: Hold): Fault {
  const why = reason === "" ? "" : ` (${reason})`;
  return new Fault(
    "conflict",
    "conversation_held",
    `Conversation ${id} is on hold${why}. Lift the hold first: DELETE /api/conversations/${id}/hold`,
  );
}
