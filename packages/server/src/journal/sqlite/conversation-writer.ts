import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Lease, MarkChange, NewConversation } from "../journal.ts";
import type { NodeLocks } from "./lease.ts";
import { Refusal } from "../refusal.ts";

/** Creates and leases conversations inside the writer's transaction. */
export class ConversationWriter {
  readonly #locks: NodeLocks;
  readonly #nodeId: string;
  readonly #insert: StatementSync;
  readonly #insertDocuments: StatementSync;
  readonly #holder: StatementSync;
  readonly #claim: StatementSync;
  readonly #release: StatementSync;
  readonly #mark: StatementSync;

  constructor(deps: { readonly database: DatabaseSync; readonly locks: NodeLocks; readonly nodeId: string }) {
    const { database } = deps;
    this.#locks = deps.locks;
    this.#nodeId = deps.nodeId;
    this.#insert = database.prepare(
      `INSERT INTO conversations (id, owner_id, execution_status, is_active, created_at, updated_at, title,
         sandbox_id, parent_id, host, is_copying, generation, node_id, app_facts, app_parent_id)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14 ->> '$.parent_id') ON CONFLICT (id) DO NOTHING`,
    );
    this.#insertDocuments = database.prepare("INSERT INTO conversation_documents VALUES (?, ?, ?, ?, ?)");
    this.#holder = database.prepare("SELECT generation, node_id FROM conversations WHERE id = ?");
    this.#claim = database.prepare("UPDATE conversations SET generation = ?, node_id = ? WHERE id = ?");
    this.#mark = database.prepare(
      `UPDATE conversations SET is_pinned = ifnull(?1, is_pinned), is_archived = ifnull(?2, is_archived),
         read_event_id = CASE WHEN ?3 > ifnull(read_event_id, '') THEN ?3 ELSE read_event_id END,
         owner_id = ifnull(?7, owner_id),
         app_facts = CASE ?4 WHEN 'same' THEN app_facts WHEN 'none' THEN NULL ELSE json_patch(ifnull(app_facts, '{}'), ?5) END
       WHERE id = ?6`,
    );
    this.#release = database.prepare(
      "UPDATE conversations SET node_id = NULL WHERE id = ? AND generation = ? AND node_id = ?",
    );
  }

  /** False when there is no such conversation. */
  mark(id: string, { isPinned, isArchived, readEventId, appFacts, ownerId }: MarkChange): boolean {
    const flag = (value: boolean | undefined): number | null => (value === undefined ? null : Number(value));
    const change = appFacts === undefined ? "same" : appFacts === null ? "none" : "merge";
    const { changes } = this.#mark.run(
      flag(isPinned),
      flag(isArchived),
      readEventId ?? null,
      change,
      appFacts ?? null,
      id,
      ownerId ?? null,
    );
    return changes > 0;
  }

  /** The generation of its lease, 0 when nobody has it yet. Null when the id is taken. */
  create(row: NewConversation, isClaimed: boolean): number | null {
    const generation = isClaimed ? 1 : 0;
    const inserted = this.#insert.run(
      row.id,
      row.ownerId,
      row.executionStatus,
      Number(row.isActive),
      row.createdAtMicros,
      row.updatedAtMicros,
      row.title,
      row.sandboxId,
      row.parentId,
      row.host,
      Number(row.isCopying),
      generation,
      isClaimed ? this.#nodeId : null,
      row.appFacts,
    );
    if (inserted.changes === 0) return null;
    this.#insertDocuments.run(
      inserted.lastInsertRowid,
      row.config,
      row.sealedSecrets,
      row.snapshot,
      row.snapshotSeq,
    );
    return generation;
  }

  claim(conversationId: string): number {
    const row = this.#holder.get(conversationId) as HolderRow | undefined;
    if (row === undefined) {
      throw new Refusal("UnknownConversationError", `There is no conversation ${conversationId}`);
    }
    if (row.node_id !== null && row.node_id !== this.#nodeId && this.#locks.isAlive(row.node_id)) {
      const sentence = `Conversation ${conversationId} is owned by node ${row.node_id}`;
      throw new Refusal("LeaseHeldError", sentence, row.node_id);
    }
    const generation = row.generation + 1;
    this.#claim.run(generation, this.#nodeId, conversationId);
    return generation;
  }

  /** A lease that was replaced meanwhile is left alone. */
  release(lease: Lease): void {
    this.#release.run(lease.conversationId, lease.generation, this.#nodeId);
  }
}

type HolderRow = { generation: number; node_id: string | null };
