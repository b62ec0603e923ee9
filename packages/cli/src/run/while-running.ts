import type { WhileRunning } from "@convoke/protocol";

/** What a message may do while the agent works. */
export const whileRunningModes = [
  "steer",
  "queue",
  "interrupt",
  "reject",
  "replace",
] as const satisfies readonly WhileRunning[];
