import type { SecurityRisk } from "@convoke/protocol";

/** What happens to actions whose approval times out, and who is asked before a person. Both or none of the first two. */
export type ApprovalPolicy = {
  readonly timeout_seconds?: number;
  readonly on_timeout?: "accept" | "reject";
  /** `llm` is the name of a stored model profile. */
  readonly reviewer?: { readonly llm: string; readonly up_to?: SecurityRisk };
};

/** When the configured answer counts, in epoch milliseconds; null for never. */
export function deadlineOf(policy: ApprovalPolicy | null | undefined, nowMs: number): number | null {
  const seconds = policy?.timeout_seconds;
  return seconds === undefined ? null : nowMs + seconds * 1000;
}
