import type { ConfirmationPolicy } from "@convoke/protocol";
import { expect, test } from "vitest";
import { needsConfirmation, type GatedAction } from "./confirmation.ts";

const policies: ConfirmationPolicy[] = [
  { kind: "NeverConfirm" },
  { kind: "AlwaysConfirm" },
  { kind: "ConfirmRisky", threshold: "HIGH", confirm_unknown: false },
];
const harmless: GatedAction = { needsNoApproval: true, alwaysAsks: false, risk: "LOW" };

test.each(policies)(
  "an action that always asks waits under $kind, and the others of its answer with it",
  (policy) => {
    const asking: GatedAction = { ...harmless, needsNoApproval: false, alwaysAsks: true };
    expect(needsConfirmation(policy, [asking])).toBe(true);
    expect(needsConfirmation(policy, [harmless, asking])).toBe(true);
    expect(needsConfirmation(policy, [])).toBe(false);
    expect(needsConfirmation(policy, [harmless])).toBe(false);
  },
);
