import type { Event } from "@convoke/protocol";
import { isGoOn } from "../../agent/receive.ts";
import type { Journal } from "../../journal/journal.ts";
import { itemsOfPages } from "../../lib/items-of-pages.ts";

/**
 * The agent's last text: the message of its last finish, or its last message if newer, joined with the parts before
 * it if it was cut off. Empty if there is none.
 */
export async function readFinalResponse(
  journal: Pick<Journal, "search">,
  conversationId: string,
): Promise<string> {
  const newest = { order: "TIMESTAMP_DESC" } as const;
  /** The last message joined with the parts before it, back to the last call. */
  const wholeOf = async (last: Event, callId: string): Promise<string> => {
    const page = await journal.search(conversationId, { ...newest, kind: "MessageEvent", limit: 100 });
    const texts = [textOf(last)];
    let isPart = false;
    for (const event of page.items.map((json) => JSON.parse(json) as Event)) {
      if (event.id! >= last.id!) continue;
      if (event.id! < callId || !(isPart || isGoOn(event))) break;
      if (isPart) texts.unshift(textOf(event));
      isPart = !isPart;
    }
    return texts.join("");
  };
  const spoken = await journal.search(conversationId, {
    ...newest,
    kind: "MessageEvent",
    source: "agent",
    limit: 1,
  });
  const message = spoken.items[0] === undefined ? null : (JSON.parse(spoken.items[0]) as Event);
  const calls = { ...newest, kind: "ActionEvent", limit: 100 };
  for await (const json of itemsOfPages((pageId) => journal.search(conversationId, { ...calls, pageId }))) {
    const event = JSON.parse(json) as Event;
    if (message !== null && event.id! < message.id!) return await wholeOf(message, event.id!);
    if (event.kind === "ActionEvent" && event.action?.kind === "FinishAction") {
      return event.action.message;
    }
  }
  return message === null ? "" : await wholeOf(message, "");
}

function textOf(event: Event): string {
  if (event.kind !== "MessageEvent") return "";
  return (event.llm_message.content ?? []).map((part) => ("text" in part ? part.text : "")).join("");
}
