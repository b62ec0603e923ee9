import type { Journal } from "../journal/journal.ts";
import type { Fellows } from "../cluster/fellows.ts";
import type { GlanceFeed } from "../reading/glance-feed.ts";

const topic = "glance";

/**
 * Tells the other processes behind the port which conversations came, went or were marked here, and the feed which ones did there. What is
 * appended they notice themselves, where somebody listens. Returns what ends it.
 */
export function shareGlances(
  feed: Pick<GlanceFeed, "touch">,
  journal: Pick<Journal, "onCommit">,
  fellows: Fellows,
): () => void {
  const stops = [
    fellows.hear(topic, (id) => feed.touch(id as string)),
    journal.onCommit(({ type, conversationId }) => {
      if (type !== "appended") fellows.tell({ topic, body: conversationId });
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
