import type { WatchdogShared } from "../../lib/watchdog-memory.ts";
import type { AppendBatch, MarkChange, ConversationPatch, Lease, NewConversation } from "../journal.ts";

/** What the writer thread is asked to do; plain data that survives structured cloning. */
export type WriteRequest =
  | { readonly type: "append"; readonly lease: Lease; readonly batch: AppendBatch }
  | { readonly type: "create"; readonly row: NewConversation }
  /** Answers the generation of the lease, or null when the id is taken. */
  | CreateClaimed
  | { readonly type: "claim"; readonly conversationId: string }
  | { readonly type: "release"; readonly lease: Lease }
  | { readonly type: "delete"; readonly lease: Lease }
  | { readonly type: "mark"; readonly id: string; readonly marks: MarkChange }
  /** A number that changes when another connection commits. */
  | { readonly type: "version" };

export type CreateClaimed = {
  readonly type: "create-claimed";
  readonly row: NewConversation;
  readonly first: AppendBatch | null;
};

export type WriteOutcome = { readonly ok: true; readonly value: boolean | number | null } | WriteFailure;

/** `errcode` is SQLite's, where the storage refused. */
export type WriteFailure = {
  readonly ok: false;
  readonly name: string;
  readonly message: string;
  readonly errcode?: number | undefined;
  /** The node that owns what was refused, where one does. */
  readonly holder?: string | null | undefined;
};

/** The first message from the writer thread reports whether it could open the data folder. */
export type WriterReady =
  | { readonly type: "ready" }
  | { readonly type: "failed"; readonly failure: OpenFailure };
export type OpenFailure = {
  readonly message: string;
  readonly path: string;
  readonly errcode?: number | undefined;
  readonly code?: string | undefined;
};
export type WriterReply = WriterReady | { readonly type: "outcomes"; readonly outcomes: WriteOutcome[] };
export type WriterMessage =
  | { readonly type: "write"; readonly requests: WriteRequest[] }
  | { readonly type: "close" };

/** The first message to the writer thread. */
export type WriterBeginning = { readonly type: "open"; readonly options: WriterOptions };

export type WriterOptions = {
  readonly databasePath: string;
  readonly nodesFolder: string;
  readonly nodeId: string;
  /** How many events gather in arrival order before a round moves them to their logs. */
  readonly roundSize: number;
  /** The thread also watches whether the main thread stalls; null where another thread does, or none. */
  readonly watch: WatchdogShared | null;
};

/** The columns a patch can change, by table. */
export const patchColumns: {
  readonly [Field in keyof Required<ConversationPatch>]: {
    readonly table: "conversations" | "conversation_documents";
    readonly column: string;
  };
} = {
  title: { table: "conversations", column: "title" },
  executionStatus: { table: "conversations", column: "execution_status" },
  isActive: { table: "conversations", column: "is_active" },
  isCopying: { table: "conversations", column: "is_copying" },
  updatedAtMicros: { table: "conversations", column: "updated_at" },
  config: { table: "conversation_documents", column: "config" },
  sealedSecrets: { table: "conversation_documents", column: "sealed_secrets" },
  snapshot: { table: "conversation_documents", column: "snapshot" },
  snapshotSeq: { table: "conversation_documents", column: "snapshot_seq" },
};
