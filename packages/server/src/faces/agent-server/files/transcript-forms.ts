import type { Event } from "@convoke/protocol";
import type { ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import type { StoredEvent } from "../../../journal/journal.ts";
import { version } from "../../../lib/version.ts";
import { toAtif } from "../../../reading/atif.ts";
import { toMarkdown } from "../../../reading/transcript.ts";
import type { Mask } from "../../../security/mask.ts";

/** The events as the reader may see them, ascending. */
export type TranscriptEvents = AsyncIterable<StoredEvent>;

type Write = (
  described: ConversationInfoSource,
  events: TranscriptEvents,
  mask: Mask,
) => AsyncGenerator<string>;

/** One text of a conversation, written while its events are read. */
type Form = { readonly write: Write; readonly contentType: string; readonly ending: string };

export const transcriptForms: Readonly<Record<"markdown" | "html" | "jsonl" | "atif", Form>> = {
  markdown: { write: listSections, contentType: "text/markdown; charset=utf-8", ending: "md" },
  html: { write: listHtml, contentType: "text/html; charset=utf-8", ending: "html" },
  jsonl: { write: listLines, contentType: "application/x-ndjson; charset=utf-8", ending: "jsonl" },
  atif: { write: listSteps, contentType: "application/json; charset=utf-8", ending: "atif.json" },
};

async function* listLines(
  _described: ConversationInfoSource,
  events: TranscriptEvents,
  mask: Mask,
): AsyncGenerator<string> {
  for await (const { json } of events) yield `${mask(json)}\n`;
}

async function* listSteps(
  { id, title, config }: ConversationInfoSource,
  events: TranscriptEvents,
  mask: Mask,
): AsyncGenerator<string> {
  const shownTitle = title === null ? null : mask(title, "document");
  const model = config.agent.llm.model ?? null;
  yield* toAtif({ id, title: shownTitle, tags: config.tags, model, version }, parsed(events, mask));
}

async function* listSections(
  { title }: ConversationInfoSource,
  events: TranscriptEvents,
  mask: Mask,
): AsyncGenerator<string> {
  yield `# ${mask(title ?? "Conversation", "document")}\n\n`;
  for await (const event of parsed(events, mask)) {
    const text = toMarkdown(event);
    if (text !== "") yield text;
  }
}

async function* listHtml(
  { title }: ConversationInfoSource,
  events: TranscriptEvents,
  mask: Mask,
): AsyncGenerator<string> {
  const { eventHtml } = await import("../../../reading/html/event-html.ts");
  const { pageFoot, pageHead } = await import("../../../reading/html/html-page.ts");
  yield pageHead(mask(title ?? "Conversation", "document"));
  for await (const event of parsed(events, mask)) {
    const section = eventHtml(event);
    if (section !== "") yield section;
  }
  yield pageFoot;
}

async function* parsed(events: TranscriptEvents, mask: Mask): AsyncGenerator<Event> {
  for await (const { json } of events) yield JSON.parse(mask(json)) as Event;
}
