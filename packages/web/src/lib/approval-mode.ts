import type { ConfirmationPolicyInput, SecurityAnalyzerInput } from "@convoke/protocol";

/** How careful an agent is: how often it asks before it acts. */
export type ApprovalMode = "never" | "risky" | "always";

export const approvalModes = ["never", "risky", "always"] as const satisfies readonly ApprovalMode[];

/** What the server is told for it. Who asks when something is risky needs somebody who judges: signs of danger in the call itself. */
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
        // The server's own analyzer, which the schema of the wire does not name.
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
