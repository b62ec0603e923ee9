import type { Event } from "@convoke/protocol";
import type { Journal } from "../../journal/journal.ts";

const maxCalls = 10;
const longestWords = 500;

/**
 * What an agent did since it was last told something, in its own words for each call, the oldest first: what is left of its work when
 * it came to no report. Empty when it did nothing.
 */
export async function readWork(journal: Pick<Journal, "search">, conversationId: string): Promise<string> {
  const newest = { order: "TIMESTAMP_DESC" } as const;
  const [messages, calls] = await Promise.all([
    journal.search(conversationId, { ...newest, kind: "MessageEvent", source: "user", limit: 1 }),
    journal.search(conversationId, { ...newest, kind: "ActionEvent", limit: maxCalls }),
  ]);
  const order = messages.items.map((json) => (JSON.parse(json) as Event).id!)[0] ?? "";
  const lines = calls.items
    .map((json) => JSON.parse(json) as Event)
    .flatMap((event) => (event.kind === "ActionEvent" && event.id! > order ? [wordsOf(event)] : []));
  if (lines.length === 0) return "";
  return `What it did before, the last ${lines.length} calls:\n${lines.toReversed().join("\n")}`;
}

function wordsOf({ thought, summary, tool_name: tool }: Extract<Event, { kind: "ActionEvent" }>): string {
  const thoughts = thought.map(({ text }) => text).join(" ");
  const words = [thoughts, summary ?? tool].filter((text) => text.trim() !== "").join(" ");
  return `- ${words.replaceAll(/\s+/g, " ").trim().slice(0, longestWords).toWellFormed()}`;
}
