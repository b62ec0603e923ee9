import type { ConfirmationPolicyInput, SecurityAnalyzerInput } from "@convoke/protocol";

/** How often an agent asks for approval. */
export type ApprovalMode = "never" | "risky" | "always";

export const approvalModes = ["never", "risky", "always"] as const satisfies readonly ApprovalMode[];

/**
 * The policy and analyzer of a mode. `risky` needs an analyzer: one that finds signs of danger in the call itself.
 */
export function policyOf(care: ApprovalMode): {
  readonly policy: ConfirmationPolicyInput;
  readonly analyzer: SecurityAnalyzerInput | null;
} {
  switch (care) {
    case "never":
      return { policy: { kind: "NeverConfirm" }, analyzer: null };
    case "risky":
      return {
        policy: { kind: "ConfirmRisky", threshold: "MEDIUM", confirm_unknown: true },
        // The server's own analyzer, which is not in the wire schema.
        analyzer: { kind: "PatternSecurityAnalyzer" } as object,
      };
    case "always":
      return { policy: { kind: "AlwaysConfirm" }, analyzer: null };
  }
}

export function approvalModeOf(policyKind: string): ApprovalMode {
  if (policyKind === "AlwaysConfirm") return "always";
  return policyKind === "ConfirmRisky" ? "risky" : "never";
}
