import type { Validator } from "@convoke/protocol/validate";
import type { Journal } from "../journal/journal.ts";
import type { Activity } from "../lib/watchdog.ts";
import type { SecretBox } from "../security/seal.ts";
import type { Purse } from "../spending/purse.ts";
import type { SessionsDeps } from "../tools/conversation-sessions.ts";
import type { Standstills } from "./standstills.ts";
import type { SubConversationDeps } from "../tools/tasks/sub-conversation.ts";

/** What the conversations of a node need. */
export type DirectoryDeps = Omit<SessionsDeps, "children"> & {
  /** Finds models that a user has stored, for sub-agents that name one; there are none without it. */
  readonly findModel?: SubConversationDeps["findModel"];
  readonly journal: Journal;
  readonly secretBox: SecretBox;
  /** The server's own keys, which no conversation shows. */
  readonly serverKeys?: readonly string[];
  readonly validator: Validator;
  /** Lets every model call in and books it; there are no budgets without it. */
  readonly purse?: Purse;
  /** This process is there for the runs that it begins: they do not go on without it, and it goes on with nobody else's (P64). */
  readonly isAttended?: true;
  /** What was at work when earlier processes came to a standstill. */
  readonly standstills?: Standstills;
  readonly activity?: Activity;
  readonly nowMs: () => number;
  /** Called before a conversation is removed, so that a crash right after it forgets nobody who must be told. */
  readonly beforeDelete?: (id: string) => Promise<void>;
};
