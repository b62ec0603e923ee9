import { createParser } from "eventsource-parser";

/** One server-sent event. */
export type ServerSentEvent = { readonly event: string; readonly data: string };

/**
 * Decodes a byte stream of server-sent events, however it is cut. An unfinished event at the end is delivered too, so
 * that the reader can tell a broken answer from a missing one.
 */
export async function* decodeEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let events: ServerSentEvent[] = [];
  const parser = createParser({ onEvent: ({ event = "", data }) => events.push({ event, data }) });
  const feed = (text: string): readonly ServerSentEvent[] => {
    events = [];
    parser.feed(text);
    return events;
  };
  const decoder = new TextDecoder();
  for await (const chunk of chunks) yield* feed(decoder.decode(chunk, { stream: true }));
  // An open line ends here, and an open event with the empty line after it.
  yield* feed(`${decoder.decode()}\n\n`);
}
