import { Fault } from "../lib/fault.ts";

/** Refusals that more than one place gives, so that clients meet one code and one sentence. */

export function conversationMissing(id: string): Fault {
  return new Fault("missing", "conversation_not_found", `Conversation not found: ${id}`);
}

/** Only another process on the same store may do what was asked. */
export class OwnedElsewhere extends Fault {
  /** The node of that process, where it is known. */
  readonly holder: string | null;
  /** Call it when that node no longer owns the conversation: the cached owner is dropped, and the next lookup finds the new one. */
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
