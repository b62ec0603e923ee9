import type {
  RetentionMatch,
  RetentionPlan,
  RetentionPolicies,
  RetentionPolicy,
  RetentionStay,
} from "@convoke/protocol";
import type { NamedLease, NamedLeases } from "../cluster/named-leases.ts";
import type { Directory } from "../directory/directory.ts";
import type { Journal } from "../journal/journal.ts";
import type { Clock } from "../lib/clock.ts";
import { Fault } from "../lib/fault.ts";
import type { Logger } from "../lib/logger.ts";
import type { HoldStore } from "../settings/hold-store.ts";
import type { RetentionPolicyStore } from "../settings/retention-policy-store.ts";
import type { Trashed, TrashStore } from "../settings/trash-store.ts";
import { findMatches, type Match } from "./find-matches.ts";

/** One line of the audit log: what retention did with a conversation, and by which rule. */
export type RetentionRecord = {
  readonly conversation: string;
  readonly act: "trashed" | "deleted";
  readonly rule: string;
  readonly why: string;
};

export type RetentionDeps = {
  readonly directory: Pick<Directory, "trash">;
  readonly journal: Pick<Journal, "getConversation" | "searchConversations" | "sizeOf">;
  readonly policies: RetentionPolicyStore;
  readonly holds: HoldStore;
  readonly trash: TrashStore;
  readonly leases: NamedLeases;
  /** That of the server, for everybody; null: there is none. */
  readonly serverPolicy: RetentionPolicy | null;
  readonly onRecord: (userId: string, record: RetentionRecord) => void;
  readonly clock: Clock;
  readonly logger: Logger;
};

const usualTrashDays = 30;
/** What one run does at most; the next one goes on. */
const maxActs = 500;
const maxPlanned = 1_000;

/** Puts conversations into the trash by rules, and deletes what was there long enough. Off while there are no rules. */
export class Retention {
  readonly #deps: RetentionDeps;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
  }

  async policiesOf(userId: string): Promise<RetentionPolicies> {
    const { policies, serverPolicy } = this.#deps;
    return { policy: (await policies.of(userId)) ?? { rules: [] }, server_policy: serverPolicy };
  }

  /** For how long the trash of a user is restorable. */
  async trashDaysOf(userId: string): Promise<number> {
    const { policy, server_policy: server } = await this.policiesOf(userId);
    return policy.trash_days ?? server?.trash_days ?? usualTrashDays;
  }

  /** What the next run would do with a user's conversations, by the policy given or else the stored one; changes nothing. */
  async plan(userId: string, given?: RetentionPolicy): Promise<RetentionPlan> {
    const { policy: stored, server_policy: server } = await this.policiesOf(userId);
    const policy = given ?? stored;
    const matches = new Map<string, RetentionMatch>();
    for (const rule of [...(server?.rules ?? []), ...policy.rules]) {
      for await (const match of findMatches(this.#matchDeps(), rule, userId)) {
        if (matches.has(match.row.id)) continue;
        if (matches.size === maxPlanned) return { matches: [...matches.values()], is_complete: false };
        matches.set(match.row.id, {
          conversation_id: match.row.id,
          title: match.row.title,
          rule: rule.name,
          why: match.why,
          facts: match.facts,
          ...showStay(await this.#stay(match)),
        });
      }
    }
    return { matches: [...matches.values()], is_complete: true };
  }

  /** One run for the whole store; null while another node does it. Resolves with how many conversations it moved or deleted. */
  async run(): Promise<number | null> {
    await using lease = await this.#deps.leases.take("retention");
    if (lease === null) return null;
    const trashed = await this.#applyRules(lease);
    return trashed + (await this.#deleteDue(lease, maxActs - trashed));
  }

  async #applyRules(lease: NamedLease): Promise<number> {
    const { policies, serverPolicy } = this.#deps;
    const scopes = [
      ...(serverPolicy?.rules ?? []).map((rule) => ({ rule, userId: undefined })),
      ...(await policies.list()).flatMap(({ userId, policy }) =>
        policy.rules.map((rule) => ({ rule, userId })),
      ),
    ];
    let count = 0;
    for (const { rule, userId } of scopes) {
      for await (const match of findMatches(this.#matchDeps(), rule, userId)) {
        if (count >= maxActs || !lease.isHeld()) return count;
        if ((await this.#stay(match)) === null && (await this.#trash(match))) count += 1;
      }
    }
    return count;
  }

  async #trash({ row, rule, why }: Match): Promise<boolean> {
    const { directory, onRecord } = this.#deps;
    const days = await this.trashDaysOf(row.ownerId);
    const reason = `rule ${rule.name}: ${why}`;
    return await this.#attempt(row.id, async () => {
      await directory.trash.put({ userId: row.ownerId }, { id: row.id, reason, days });
      onRecord(row.ownerId, { conversation: row.id, act: "trashed", rule: rule.name, why });
    });
  }

  async #deleteDue(lease: NamedLease, max: number): Promise<number> {
    const { clock, directory, holds, onRecord, trash } = this.#deps;
    const nowMs = clock.nowMs();
    let count = 0;
    let last: Trashed | null = null;
    for (;;) {
      const due: Trashed[] = await trash.listDue(nowMs, 100, last);
      const held = await holds.of(due.map(({ conversation_id: id }) => id));
      for (const entry of due) {
        if (count >= max || !lease.isHeld()) return count;
        last = entry;
        const { conversation_id: id, user_id: userId, reason: why } = entry;
        if (held.has(id)) continue;
        const isGone = await this.#attempt(id, async () => {
          await directory.trash.delete({ userId }, id);
          onRecord(userId, { conversation: id, act: "deleted", rule: "trash", why });
        });
        if (isGone) count += 1;
      }
      if (due.length < 100) return count;
    }
  }

  /** What cannot be done now is tried by the next run. */
  async #attempt(id: string, act: () => Promise<void>): Promise<boolean> {
    try {
      await act();
      return true;
    } catch (error) {
      const isExpected = error instanceof Fault && error.kind !== "bug";
      if (!isExpected)
        this.#deps.logger.error({ conversation: id, error: String(error) }, "retention failed");
      return false;
    }
  }

  /** Why the conversation is not moved all the same; null: it goes. */
  async #stay({ row }: Match): Promise<Stay | null> {
    const hold = (await this.#deps.holds.of([row.id])).get(row.id);
    if (hold !== undefined) return { reason: "held", holdReason: hold.reason };
    if (row.isActive || row.executionStatus === "running") return { reason: "running", holdReason: null };
    if (row.executionStatus === "waiting_for_confirmation")
      return { reason: row.executionStatus, holdReason: null };
    return row.sandboxId !== null || row.appFacts !== null ? { reason: "sandbox", holdReason: null } : null;
  }

  #matchDeps(): { readonly journal: RetentionDeps["journal"]; readonly nowMs: number } {
    return { journal: this.#deps.journal, nowMs: this.#deps.clock.nowMs() };
  }
}

type Stay = { readonly reason: RetentionStay; readonly holdReason: string | null };

const stayTexts = {
  held: "on hold",
  running: "it works",
  waiting_for_confirmation: "it waits for an approval",
  sandbox: "it belongs to a sandbox",
} as const satisfies Record<RetentionStay, string>;

function showStay(stay: Stay | null): Pick<RetentionMatch, "hold_reason" | "stays" | "stays_because"> {
  if (stay === null) return { stays_because: null, stays: null, hold_reason: null };
  const { reason, holdReason } = stay;
  const text = stayTexts[reason];
  return {
    stays_because: holdReason ? `${text}: ${holdReason}` : text,
    stays: reason,
    hold_reason: holdReason,
  };
}
