import type { EventDraft, StampedEvent } from "../../events/event-draft.ts";
import { JournalWriteError } from "../../journal/journal.ts";
import { DatabaseUnavailableError } from "../../lib/database-unavailable.ts";
import { isDamage } from "../../lib/storage-fault.ts";
import { wait } from "../../lib/wait.ts";
import type { ConversationState } from "../state/conversation-state.ts";
import type { SharedParts } from "../shared-parts.ts";

export type Following = (next: Readonly<ConversationState>) => readonly EventDraft[];

type StoreOptions = {
  readonly onStored?: () => void;
  readonly following?: Following;
  readonly meanwhile?: (stamped: readonly StampedEvent[]) => void;
};

type StoreDeps = Pick<SharedParts, "id" | "log" | "logger" | "queue">;

/**
 * Appends the drafts of `decide`, and retries until the store accepts them: a full disk must not lose a result that
 * exists only here. Damage is thrown, because retries would not help. Between attempts the mailbox runs commands,
 * and `decide` is called again for the new log. Stops if `signal` aborts while the store fails. `onStored` is called
 * before any other mailbox job; `following` returns drafts for the same commit, from the state after the first ones;
 * `meanwhile` is called while they are being stored.
 */
export async function storeEvents(
  deps: StoreDeps,
  signal: AbortSignal,
  decide: () => Promise<readonly EventDraft[]> | readonly EventDraft[],
  { onStored, ...extra }: StoreOptions = {},
): Promise<void> {
  for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 5000)) {
    try {
      await deps.queue.post(async () => {
        const drafts = await decide();
        if (drafts.length > 0) await deps.log.append(drafts, extra);
        onStored?.();
      });
      return;
    } catch (error) {
      if (!(error instanceof JournalWriteError && mayPass(error))) throw error;
      deps.logger.error(
        { conversation: deps.id, error: String(error), retryInMs: delayMs },
        "events could not be stored",
      );
      await wait(delayMs, signal);
      if (signal.aborted) return;
    }
  }
}

/** True for errors of the store that may not recur: refused, or not acknowledged. */
export function mayPass(error: unknown): boolean {
  return (
    (error instanceof JournalWriteError || error instanceof DatabaseUnavailableError) && !isDamage(error)
  );
}
