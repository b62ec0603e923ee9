import type { StoredEvent } from "../journal/journal.ts";
import type { WebhookSpec } from "./webhook.ts";

const longestPauseMs = 300_000;

/** The delay of a retry: a few quick ones, then exponential backoff, with jitter. */
export function pauseAfter(
  failures: number,
  { num_retries: quick, retry_delay: seconds }: WebhookSpec,
): number {
  const growth = 2 ** Math.min(Math.max(0, failures - quick), 20);
  return Math.min(Math.max(seconds, 0.05) * 1000 * growth, longestPauseMs) * (0.75 + Math.random() / 2);
}

/** A single event that is too large goes alone. */
export function withinBytes(events: readonly StoredEvent[], maxBytes: number): readonly StoredEvent[] {
  let bytes = 0;
  const end = events.findIndex(
    ({ json }, index) => (bytes += Buffer.byteLength(json)) > maxBytes && index > 0,
  );
  return end === -1 ? events : events.slice(0, end);
}
