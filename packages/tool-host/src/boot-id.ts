import { readFileSync } from "node:fs";

/** Differs from one start of the machine to the next, and from one machine to another; null where the system does not tell. */
export function bootId(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    // Not Linux, or hidden: whoever asks does without.
    return null;
  }
}
