import type { Verdict } from "../../agent/judge-goal.ts";

/** A goal: the agent is sent back until a judge considers it reached. Field names are those of the reference. */
export type Goal = {
  readonly active: boolean;
  readonly status: "running" | "complete" | "capped" | "interrupted";
  /** Starts at 1. */
  readonly iteration: number;
  readonly max_iterations: number;
  readonly objective: string;
  readonly verdict: Verdict | null;
};
