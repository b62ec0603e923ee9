import type { Validator } from "@convoke/protocol/validate";
import type { Journal } from "../journal/journal.ts";
import type { Clock } from "../lib/clock.ts";
import type { Activity } from "../lib/watchdog.ts";
import type { Observer } from "../observability/observer.ts";
import type { SecretBox } from "../security/seal.ts";
import type { BudgetGuard } from "../spending/budget-guard.ts";
import type { SessionsDeps } from "../tools/conversation-sessions.ts";
import type { StoredModels } from "../tools/tasks/sub-conversation.ts";
import type { Standstills } from "./standstills.ts";

/** Told before a conversation is removed. */
export interface DeletionListener {
  /** When it resolves, everybody who must be notified is stored, even through a crash. */
  beforeDelete(id: string): Promise<void>;
}

/** What the conversations of a node need. */
export type DirectoryDeps = Omit<SessionsDeps, "children"> & {
  readonly storedModels: StoredModels;
  readonly journal: Journal;
  readonly secretBox: SecretBox;
  /** The server's own keys, which no conversation shows. */
  readonly serverKeys: readonly string[];
  readonly validator: Validator;
  /** Lets every model call in and records what it cost. */
  readonly budgetGuard: BudgetGuard;
  /** This process exists for the runs that it starts: they are not resumed without it, and it resumes no others (P64). */
  readonly isAttended: boolean;
  /** What was at work when earlier processes came to a standstill. */
  readonly standstills: Standstills;
  readonly activity: Activity;
  readonly observer: Observer;
  readonly clock: Clock;
  readonly deletions: DeletionListener;
};
