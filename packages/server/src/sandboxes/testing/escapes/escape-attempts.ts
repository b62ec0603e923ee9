import type { EscapeAttempt } from "./escape-attempt.ts";
import type { EscapeTargets } from "./escape-targets.ts";
import { fileAttempts } from "./file-attempts.ts";
import { kernelAttempts } from "./kernel-attempts.ts";
import { networkAttempts } from "./network-attempts.ts";

/** Of every place in which tools run, in the order of their numbers. */
export function escapeAttempts(targets: EscapeTargets): readonly EscapeAttempt[] {
  return [...fileAttempts(targets), ...kernelAttempts(targets), ...networkAttempts(targets)];
}
