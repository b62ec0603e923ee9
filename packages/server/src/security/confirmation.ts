import type { ConfirmationPolicy, SecurityRisk } from "@convoke/protocol";

const order: readonly SecurityRisk[] = ["LOW", "MEDIUM", "HIGH"];

/** The facts about one action that a policy needs. */
export type GatedAction = {
  readonly needsNoApproval: boolean;
  readonly alwaysAsks: boolean;
  readonly risk: SecurityRisk;
};

/** True when the whole batch must wait for the user: under every policy with an action that always asks. A lone finish or think never does. */
export function needsConfirmation(policy: ConfirmationPolicy, batch: readonly GatedAction[]): boolean {
  const [first] = batch;
  if (first === undefined) return false;
  if (batch.some(({ alwaysAsks }) => alwaysAsks)) return true;
  if (batch.length === 1 && first.needsNoApproval) return false;
  switch (policy.kind) {
    case "NeverConfirm":
      return false;
    case "AlwaysConfirm":
      return true;
    case "ConfirmRisky":
      return batch.some((action) =>
        action.risk === "UNKNOWN"
          ? (policy.confirm_unknown ?? true)
          : order.indexOf(action.risk) >= order.indexOf(policy.threshold ?? "HIGH"),
      );
  }
}
