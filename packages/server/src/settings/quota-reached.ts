import type { QuotaName } from "@convoke/protocol";
import { Fault } from "../lib/fault.ts";

export type ReachedQuota = { readonly name: QuotaName; readonly used: number; readonly max: number };

const words: Readonly<Record<QuotaName, { readonly what: string; readonly ends: string }>> = {
  conversations: { what: "conversations exist", ends: "Delete a conversation" },
  running_walls: {
    what: "walls run",
    ends: "Wait until a conversation has finished; its wall ends at most ten minutes after its last use",
  },
};

/** One sentence for people. */
export function describeQuota({ name, used, max }: ReachedQuota): string {
  const { what, ends } = words[name];
  return `Your quota is reached: ${used} ${what}, and your policy allows ${max}. ${ends}, or ask an admin for more.`;
}

/** The refusal of what would exceed a quota. */
export function quotaReached(quota: ReachedQuota, options: ErrorOptions = {}): Fault {
  const facts = { quota: { ...quota, ends: `${words[quota.name].ends}.` } };
  return new Fault("too-many", "quota_reached", describeQuota(quota), [], { ...options, facts });
}
