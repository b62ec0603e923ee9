import type { StartConversationRequest } from "@convoke/protocol";

/** A create request as a client would send it: what is left out comes from the owner's settings. */
export type RunRequest = Omit<Partial<StartConversationRequest>, "conversation_id"> & {
  readonly conversation_id: string;
  /** The stored model profile of the agent; null: that of the settings or of the agent profile. */
  readonly llm_profile: string | null;
  /** How many conversations it was started through. */
  readonly start_depth: number;
};

/** How the conversation of a run stands. */
export type RunStatus = "active" | "finished" | "failed" | "paused" | "deleted";

/** What automations do with conversations. */
export interface RunConversations {
  /** Why this user may start nothing; null: they may. */
  refusalOf(ownerId: string): string | null;
  /**
   * Creates a conversation of this user with its first message, in one commit. Nothing happens where it exists. Rejects with a Fault when it
   * cannot be created.
   */
  start(ownerId: string, request: RunRequest): Promise<void>;
  /** In the order of the ids. */
  statuses(ids: readonly string[]): Promise<readonly RunStatus[]>;
  /** Interrupts the run of a conversation on whichever node; nothing happens where there is none. */
  interrupt(ownerId: string, id: string): Promise<void>;
  /** A new folder for a conversation that names none. */
  folderFor(id: string): Promise<string>;
}
