import { Fault } from "../lib/fault.ts";
import type { ConversationConfig } from "./conversation-config.ts";

/** Errors that several places throw, with one code and one sentence each. */

/** Another agent has its own history and models, which this server neither sees nor changes. */
export function refuseForAcp({ agent }: Pick<ConversationConfig, "agent">, what: string): void {
  if (agent.acp === undefined) return;
  throw new Fault(
    "conflict",
    "not_with_acp",
    `${what} is not possible in a conversation with an ACPAgent, which has a history and models of its own.`,
  );
}

export function alreadyRunning(): Fault {
  return new Fault(
    "conflict",
    "already_running",
    "The conversation is already running. Wait until it ends, or pause or interrupt it first.",
  );
}

export function conversationMissing(id: string): Fault {
  return new Fault("missing", "conversation_not_found", `Conversation not found: ${id}`);
}

/** Only another process on the same store can do this. */
export class OwnedElsewhere extends Fault {
  /** The node of that process, if known. */
  readonly holder: string | null;
  /**
   * Call if that node no longer owns the conversation: drops the cached owner, so that the next lookup finds the new
   * one.
   */
  readonly forget: () => void;

  constructor(holder: string | null, forget: () => void = () => {}) {
    super(
      "not-now",
      "owned_elsewhere",
      "Another server process on the same store is working on this conversation, and it does not answer. Try again in a moment.",
    );
    this.holder = holder;
    this.forget = forget;
  }
}

export function secretsUnreadable(id: string): Fault {
  return new Fault(
    "not-now",
    "secrets_unreadable",
    `The secrets of conversation ${id} cannot be opened with the present master-key file. Restore the file they were sealed with.`,
  );
}

export function conversationDamaged(id: string): Fault {
  return new Fault(
    "bug",
    "conversation_damaged",
    `The stored data of conversation ${id} cannot be read. Restore the data folder from a backup, or delete the conversation.`,
  );
}

export function conversationClosing(): Fault {
  return new Fault(
    "not-now",
    "conversation_closing",
    "The conversation is being closed. Try again in a moment.",
  );
}

export function serverClosing(): Fault {
  return new Fault("not-now", "server_closing", "The server is shutting down. Try again in a moment.");
}

export function workspaceUnavailable(problem: string): Fault {
  return new Fault(
    "not-now",
    "workspace_unavailable",
    `${problem} Send a message or call run when it is back.`,
  );
}

export function nothingToTitle(id: string): Fault {
  return new Fault(
    "conflict",
    "nothing_to_title",
    `Conversation ${id} has no message with text yet. Send one first.`,
  );
}

export function noCondenser(id: string): Fault {
  return new Fault(
    "conflict",
    "no_condenser",
    `Conversation ${id} has a NoOpCondenser, which keeps the whole history.`,
  );
}

export function nothingToCondense(id: string): Fault {
  return new Fault(
    "conflict",
    "nothing_to_condense",
    `Conversation ${id} has nothing that could be replaced by a summary yet.`,
  );
}
