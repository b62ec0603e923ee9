import type { ConversationRow } from "./journal.ts";

/** The columns of a conversation as both stores select them; `Flag` is how the store writes a boolean. */
export type StoredConversation<Flag extends boolean | number> = {
  readonly id: string;
  readonly owner_id: string;
  readonly execution_status: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly title: string | null;
  readonly sandbox_id: string | null;
  readonly parent_id: string | null;
  readonly host: string | null;
  readonly app_facts: string | null;
  readonly is_active: Flag;
  readonly is_copying: Flag;
  readonly is_archived: Flag;
  readonly is_pinned: Flag;
  readonly read_event_id: string | null;
  readonly config: string;
  readonly sealed_secrets: string | null;
  readonly snapshot: string | null;
  readonly snapshot_seq: number;
  readonly last_seq: number;
};

export function toConversation(row: StoredConversation<boolean | number>): ConversationRow {
  return {
    id: row.id,
    ownerId: row.owner_id,
    executionStatus: row.execution_status,
    isActive: isSet(row.is_active),
    createdAtMicros: row.created_at,
    updatedAtMicros: row.updated_at,
    title: row.title,
    sandboxId: row.sandbox_id,
    parentId: row.parent_id,
    host: row.host,
    appFacts: row.app_facts,
    isCopying: isSet(row.is_copying),
    marks: {
      isPinned: isSet(row.is_pinned),
      isArchived: isSet(row.is_archived),
      readEventId: row.read_event_id,
    },
    config: row.config,
    sealedSecrets: row.sealed_secrets,
    snapshot: row.snapshot,
    snapshotSeq: row.snapshot_seq,
    lastSeq: row.last_seq,
  };
}

function isSet(flag: boolean | number): boolean {
  return flag === true || flag === 1;
}
