import type { Landmarks } from "@convoke/protocol";
import { spendOf, viewOf } from "@convoke/client";
import { asRecord, textAt, type UnknownRecord } from "@convoke/client/view";

/**
 * The landmarks of a recorded log, as the server computes them, but without its limit. `copiedUpTo` is an event id,
 * or empty.
 */
export function landmarksOf(events: readonly UnknownRecord[], copiedUpTo: string): Landmarks {
  const marks = {
    turns: [] as number[],
    errors: [] as number[],
    rejected: [] as number[],
    condensations: [] as number[],
    branches: [] as number[],
    spent: [] as Landmarks["spent"],
  };
  const tasks = new Map<string, number>();
  for (const [index, event] of events.entries()) {
    const position = index + 1;
    if (copiedUpTo !== "" && textAt(event, "id") === copiedUpTo) marks.branches.push(position);
    switch (event["kind"]) {
      case "MessageEvent":
        if (event["source"] === "user") marks.turns.push(position);
        break;
      case "ConversationErrorEvent":
      case "AgentErrorEvent":
        marks.errors.push(position);
        break;
      case "UserRejectObservation":
        marks.rejected.push(position);
        break;
      case "Condensation":
        marks.condensations.push(position);
        break;
      case "ConversationStateUpdateEvent": {
        const value = asRecord(event["value"]);
        const taskId = textAt(value, "task_id");
        if (event["key"] === "leaf_event_id") marks.branches.push(position);
        else if (event["key"] === "task" && !tasks.has(taskId)) tasks.set(taskId, position);
        else if (event["key"] === "stats" && value !== null)
          marks.spent.push({ position, ...spentAt(value) });
      }
    }
  }
  return { length: events.length, ...marks, tasks: [...tasks.values()] };
}

function spentAt(stats: UnknownRecord): { readonly cost: number; readonly context: number | null } {
  const { cost, contextTokens, contextWindow } = spendOf(viewOf({ stats }));
  return { cost, context: contextWindow > 0 ? contextTokens / contextWindow : null };
}
