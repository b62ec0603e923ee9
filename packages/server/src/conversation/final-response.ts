import type { Event } from "@convoke/protocol";
import type { Journal } from "../journal/journal.ts";

/** What the agent said last: the message of its last finish, or its last message when that is newer; empty when there is none. */
export async function readFinalResponse(
  journal: Pick<Journal, "search">,
  conversationId: string,
): Promise<string> {
  const newest = { order: "TIMESTAMP_DESC" } as const;
  const spoken = await journal.search(conversationId, {
    ...newest,
    kind: "MessageEvent",
    source: "agent",
    limit: 1,
  });
  const message = spoken.items[0] === undefined ? null : (JSON.parse(spoken.items[0]) as Event);
  let pageId: string | null = null;
  do {
    const page = await journal.search(conversationId, {
      ...newest,
      kind: "ActionEvent",
      limit: 100,
      ...(pageId === null ? {} : { pageId }),
    });
    for (const json of page.items) {
      const event = JSON.parse(json) as Event;
      if (message !== null && event.id! < message.id!) return textOf(message);
      if (event.kind === "ActionEvent" && event.tool_name === "finish" && event.action) {
        return "message" in event.action ? event.action.message : "";
      }
    }
    pageId = page.nextPageId;
  } while (pageId !== null);
  return message === null ? "" : textOf(message);
}

function textOf(event: Event): string {
  if (event.kind !== "MessageEvent") return "";
  return (event.llm_message.content ?? []).map((part) => ("text" in part ? part.text : "")).join("");
}
