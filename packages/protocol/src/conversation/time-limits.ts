import { Type } from "typebox";

/** A year: longer than any run, and what a timer can wait for in steps. */
const maxSeconds = 31_536_000;

export const runSeconds = Type.Number({
  exclusiveMinimum: 0,
  maximum: maxSeconds,
  description: "Seconds that one run may take before it is ended; null: no limit.",
});
export const conversationSeconds = Type.Number({
  exclusiveMinimum: 0,
  maximum: maxSeconds,
  description: "Seconds that all runs together may take; null: no limit.",
});
