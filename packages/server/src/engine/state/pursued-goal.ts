import type { Verdict } from "../../agent/judge-goal.ts";

/** An objective that the agent is sent back to until a judge calls it reached. Its fields are those of the reference. */
export type Goal = {
  readonly active: boolean;
  readonly status: "running" | "complete" | "capped" | "interrupted";
  /** From 1. */
  readonly iteration: number;
  readonly max_iterations: number;
  readonly objective: string;
  readonly verdict: Verdict | null;
};
