import { innerAddress } from "@convoke/tool-host";
import type { EgressPolicy, Verdict } from "../policy/egress-policy.ts";
import { type Target, toHost } from "../../lib/host-name.ts";
import { Refused, refuseByPolicy } from "./refusal.ts";

export type Allowed = Extract<Verdict, { isAllowed: true }>;

/** Throws `Refused` when no rule allows the target. */
export function decide(policy: EgressPolicy, target: Target): Allowed {
  const verdict = policy.decide(target);
  if (!verdict.isAllowed) throw refuseByPolicy(target, verdict);
  return verdict;
}

/** Throws `Refused` unless bytes may pass that nobody reads. */
export function decideUnread(policy: EgressPolicy, target: Target): Allowed {
  const allowed = decide(policy, target);
  if (allowed.isReadOnly) throw new Refused(target, "read-only", "This host is read-only now.");
  return allowed;
}

/** Throws `Refused` when a rule denies an address that the target's name leads to. */
export function decideAddress(policy: EgressPolicy, target: Target, address: string): void {
  for (const host of new Set([toHost(address) ?? address, innerAddress(address)])) {
    const verdict = policy.decide({ host, port: target.port });
    if (!verdict.isAllowed && verdict.reason === "denied") throw refuseByPolicy(target, verdict);
  }
}
