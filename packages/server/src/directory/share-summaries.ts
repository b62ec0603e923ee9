import type { Journal } from "../journal/journal.ts";
import type { ProcessGroup } from "../cluster/process-group.ts";
import type { SummaryFeed } from "../reading/summary-feed.ts";

const topic = "summary";

/**
 * Tells the other processes behind the port which conversations came, went or were marked here, and the feed which ones did there. What is
 * appended they notice themselves, where somebody listens. Returns what ends it.
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
