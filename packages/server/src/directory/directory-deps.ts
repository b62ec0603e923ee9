import type { Validator } from "@convoke/protocol/validate";
import type { BoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import type { Journal } from "../journal/journal.ts";
import type { Clock } from "../lib/clock.ts";
import type { Activity } from "../lib/watchdog.ts";
import type { Observer } from "../observability/observer.ts";
import type { SecretBox } from "../security/seal.ts";
import type { HoldStore } from "../settings/hold-store.ts";
import type { TrashStore } from "../settings/trash-store.ts";
import type { BudgetGuard } from "../spending/budget-guard.ts";
import type { SessionsDeps } from "../tools/conversation-sessions.ts";
import type { StoredModels } from "../tools/tasks/sub-conversation.ts";
import type { DescribeWall } from "../tools/conversation-host.ts";
import type { RuleSources } from "./owned-rules.ts";
import type { Quotas } from "./quotas.ts";
import type { Standstills } from "./standstills.ts";

/** Called before a conversation is removed. */
export interface DeletionListener {
  /** Resolves when all pending notifications are stored, so that a crash does not lose them. */
  beforeDelete(id: string): Promise<void>;
}

/** Dependencies of the conversations of a node. */
export type DirectoryDeps = Omit<SessionsDeps, "children"> & {
  readonly storedModels: StoredModels;
  readonly describeWall: DescribeWall;
  readonly ruleSources: RuleSources;
  readonly journal: Journal;
  readonly quotas: Pick<Quotas, "admit" | "of">;
  readonly secretBox: SecretBox;
  /** Where the walls of conversations find bound secrets. */
  readonly boundSecrets: Pick<BoundSecretRegistry, "set">;
  /** The server's own keys, masked in every conversation. */
  readonly serverKeys: readonly string[];
  readonly validator: Validator;
  /** Admits model calls and records their cost. */
  readonly budgetGuard: BudgetGuard;
  /**
   * This process lives only for the runs that it starts: they are not resumed without it, and it resumes no others
   * (P64).
   */
  readonly isAttended: boolean;
  /** The runs at which earlier processes came to a standstill. */
  readonly standstills: Standstills;
  readonly activity: Activity;
  readonly observer: Observer;
  readonly clock: Clock;
  readonly deletions: DeletionListener;
  readonly holds: HoldStore;
  readonly trash: TrashStore;
};
