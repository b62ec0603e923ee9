import type { Action, SecurityRisk } from "@convoke/protocol";

/** What an analyzer sees of one call. */
export type AssessedCall = {
  readonly toolName: string;
  /** A shell runs a text of it. */
  readonly runsShell: boolean;
  readonly isReadOnly: boolean;
  readonly action: Action;
  /** The model's own estimate; null when it gave none. */
  readonly predictedRisk: SecurityRisk | null;
  /** What the model said about the call: thoughts, reasoning, summary. */
  readonly words: readonly string[];
};

/** How risky a call is and why; `reasons` are plain phrases for a person who decides. */
export type Verdict = { readonly risk: SecurityRisk; readonly reasons: readonly string[] };
