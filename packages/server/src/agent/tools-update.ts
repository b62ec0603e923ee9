import { createHash } from "node:crypto";
import type { ToolDefinition } from "@convoke/protocol";
import type { ToolListing } from "@convoke/tool-host";
import type { EventDraft, EventMeta } from "../events/event-draft.ts";
import type { ViewEvent } from "./history-view.ts";

export type ToolsUpdate = {
  readonly meta: Pick<EventMeta, "shownTools">;
  readonly drafts: readonly EventDraft[];
};

/** The log says already which tools the model has. */
export const upToDate: ToolsUpdate = { meta: {}, drafts: [] };

/**
 * What tells readers of the log that the model has other tools by now than the log said so far: a state update in the form of
 * the system prompt's list, and a mark for the answer that it goes with (L23.36). Nothing when the log is up to date.
 */
export function toolsUpdate(view: readonly ViewEvent[], tools: readonly ToolListing[]): ToolsUpdate {
  const definitions = tools.map(({ definition }) => definition);
  const digest = digestOf(definitions);
  if (digest === lastShown(view)) return upToDate;
  const body = {
    kind: "ConversationStateUpdateEvent",
    source: "environment",
    key: "tools",
    value: definitions,
  } as const;
  return { meta: { shownTools: digest }, drafts: [{ body }] };
}

/** How far back a mark is searched, so that a step costs the same in any log; what is further back is reported again. */
const furthestMark = 500;

/** After a condensation the mark may be gone too. */
function lastShown(view: readonly ViewEvent[]): string | null {
  const oldest = Math.max(0, view.length - furthestMark);
  for (let index = view.length - 1; index >= oldest; index--) {
    const { shownTools } = view[index]!.meta;
    if (shownTools !== undefined) return shownTools;
  }
  const prompt = view.find(({ event }) => event.kind === "SystemPromptEvent")?.event;
  return prompt?.kind === "SystemPromptEvent" ? digestOf(prompt.tools ?? []) : null;
}

function digestOf(definitions: readonly ToolDefinition[]): string {
  return createHash("sha256").update(JSON.stringify(definitions)).digest("hex").slice(0, 16);
}
