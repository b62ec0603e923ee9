import type { EventWithMeta, Journal } from "./journal.ts";

/**
 * Reads single conversations for debugging. It takes no lease, is no node, makes and changes no tables; servers may work on
 * the store meanwhile. Opening rejects with {@link ConfigError} where there is no store, or one of another release.
 */
export interface StoreInspector
  extends AsyncDisposable, Pick<Journal, "getConversation" | "read" | "readKinds"> {
  /** Ids that begin so, ascending. */
  findIds(beginning: string, limit: number): Promise<string[]>;
  /** Null when there is no such conversation. */
  facts(conversationId: string): Promise<StoreFacts | null>;
  /** Events of `[fromSeq, toSeq]`, ascending, a damaged one in its place; none beyond the end. */
  readEach(conversationId: string, fromSeq: number, toSeq: number): Promise<EventWithMeta[]>;
  /** Conversations that are a part of this one, in the order in which they were made. */
  listParts(conversationId: string): Promise<{ readonly id: string; readonly status: string }[]>;
}

/** What the store keeps about a conversation for itself. */
export type StoreFacts = {
  /** Names its log for ever. */
  readonly log: number;
  /** Grows with each claim; 0 for one that nobody has owned yet. */
  readonly generation: number;
  readonly holder: LeaseHolder | null;
  /** The data folder of its last owner, by its name; null where all owners have the same one. */
  readonly machine: string | null;
  /** Of its events as they are sent, and of what is stored beside them; null where a page of them is damaged. */
  readonly eventBytes: number | null;
  readonly besideBytes: number | null;
  /** How far the index of all texts has read; null where there is none that can be read. */
  readonly indexedSeq: number | null;
};

/** The node that the store names as owner, alive or not. */
export type LeaseHolder = {
  readonly nodeId: string;
  readonly isAlive: boolean;
  readonly startedAtMs: number | null;
  /** How other nodes reach it; null where it said nothing. */
  readonly address: string | null;
  readonly release: string | null;
};
