import type { HookGate } from "./hook-gate.ts";
import type { SharedParts } from "./shared-parts.ts";

/**
 * Runs the end hooks of a conversation that leaves this process, and records them while this process still owns the
 * log.
 */
export async function endHooks(
  gate: HookGate,
  { id, log, logger, queue }: Pick<SharedParts, "id" | "log" | "logger" | "queue">,
): Promise<void> {
  await using hooks = gate;
  try {
    const records = queue.isLost ? [] : await hooks.end();
    if (records.length > 0) await log.append(records);
  } catch (error) {
    // The conversation ends anyway; only the records of its last hooks are lost.
    logger.warn({ conversation: id, error: String(error) }, "the end of hooks could not be recorded");
  }
}
