import type { Message } from "@convoke/protocol";
import type { ConversationState } from "./conversation-state.ts";

/** Maximum length of the text that lists show. */
const shownCharacters = 160;
/** How much of a message is read: it may begin with many spaces. */
const readCharacters = 1_000;

/** The beginning of a message on one line; empty if it has no text. Tolerates old logs. */
export function beginningOf(message: Partial<Message> | undefined, max = shownCharacters): string {
  for (const part of message?.content ?? []) {
    if (!("text" in part) || typeof part.text !== "string") continue;
    const line = part.text.slice(0, readCharacters).replaceAll(/\s+/g, " ").trim();
    if (line !== "") return line.slice(0, max);
  }
  return "";
}

/** Progress of a task list; null for observations without one. */
export function planOf(observation: object | undefined): ConversationState["plan"] {
  const { kind, task_list: tasks } = (observation ?? {}) as { kind?: string; task_list?: unknown };
  if (kind !== "TaskTrackerObservation" || !Array.isArray(tasks)) return null;
  const list = tasks as { title?: unknown; status?: unknown }[];
  const current = list.find(({ status }) => status === "in_progress")?.title;
  return {
    done: list.filter(({ status }) => status === "done").length,
    total: list.length,
    current: typeof current === "string" ? current.slice(0, shownCharacters) : null,
  };
}

export function retryUntilOf(value: unknown): string | null {
  const { until } = (value ?? {}) as { until?: unknown };
  return typeof until === "string" ? until : null;
}
