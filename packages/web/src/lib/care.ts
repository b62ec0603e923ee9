import type { ConfirmationPolicyInput, SecurityAnalyzerInput } from "@convoke/protocol";

/** How careful an agent is: how often it asks before it acts. */
export type Care = "never" | "risky" | "always";

export const cares = ["never", "risky", "always"] as const satisfies readonly Care[];

/** What the server is told for it. Who asks when something is risky needs somebody who judges: signs of danger in the call itself. */
export function policyOf(care: Care): {
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

export function careOf(policyKind: string): Care {
  if (policyKind === "AlwaysConfirm") return "always";
  return policyKind === "ConfirmRisky" ? "risky" : "never";
}
