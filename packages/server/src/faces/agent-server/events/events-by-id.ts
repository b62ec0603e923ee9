import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Journal, StoredEvent } from "../../../journal/journal.ts";
import { shownJson } from "../../../journal/shown-event.ts";
import { Fault } from "../../../lib/fault.ts";

/** Half of what one text can hold. */
const maxCharacters = 256 * 1024 * 1024;
/** Yields to the event loop after that many. */
const turnLength = 100;

/** The events with these ids as a JSON list, null for misses; one after the other, because each may be large. */
export async function readEventsById(
  journal: Pick<Journal, "getEvents">,
  conversationId: string,
  ids: readonly string[],
  toShown: (event: StoredEvent, json: string) => string = (_event, json) => json,
): Promise<string> {
  const texts: string[] = [];
  let characters = 0;
  for (const [index, id] of ids.entries()) {
    const [event] = await journal.getEvents(conversationId, [id]);
    const text = event == null ? "null" : toShown(event, shownJson(event));
    characters += text.length;
    if (characters > maxCharacters) {
      const limit = "The events are longer than 256 Mi characters together. Ask for fewer ids at once.";
      throw new Fault("too-large", "reply_too_large", limit);
    }
    texts.push(text);
    if (index % turnLength === turnLength - 1) await yieldToEventLoop();
  }
  return `[${texts.join(",")}]`;
}
