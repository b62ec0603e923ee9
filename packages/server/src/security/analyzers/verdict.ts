import type { Action, SecurityRisk } from "@convoke/protocol";

/** The facts about one call that an analyzer gets. */
export type AssessedCall = {
  readonly toolName: string;
  /** True when a shell runs one of its texts. */
  readonly runsShell: boolean;
  readonly isReadOnly: boolean;
  readonly action: Action;
  /** The model's own estimate; null when it gave none. */
  readonly predictedRisk: SecurityRisk | null;
  /** The model's text about the call: thoughts, reasoning, summary. */
  readonly words: readonly string[];
};

/** How risky a call is and why; `reasons` are plain phrases for a person who decides. */
export type Verdict = { readonly risk: SecurityRisk; readonly reasons: readonly string[] };
