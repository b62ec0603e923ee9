import type { Journal } from "../journal/journal.ts";
import type { ProcessGroup } from "../cluster/process-group.ts";
import type { SummaryFeed } from "../reading/summary-feed.ts";

const topic = "summary";

/**
 * Publishes to the other processes behind the port which conversations were created, deleted or marked here, and
 * forwards theirs to the feed. Appends are polled by followers. Returns a function that stops it.
 */
export function shareSummaries(
  feed: Pick<SummaryFeed, "touch">,
  journal: Pick<Journal, "onCommit">,
  processGroup: ProcessGroup,
): () => void {
  const stops = [
    processGroup.subscribe(topic, (id) => feed.touch(id as string)),
    journal.onCommit(({ type, conversationId }) => {
      if (type !== "appended") processGroup.publish({ topic, body: conversationId });
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
