import { clipText, shortNotice } from "@convoke/tool-host";
import type { ViewEvent } from "../history-view.ts";
import type { CondensationPlan } from "./plan.ts";

const longest = { line: 240, notes: 6_000 } as const;

/**
 * Notes without a model, for when none can write them and there must be room: the earlier notes as they are, what the
 * person said, and one line for each call. Poorer than a summary, but nothing in them is invented.
 */
export function plainNotes(plan: CondensationPlan): string {
  const lines = plan.forgotten.flatMap(lineOf);
  const events = clipText(lines.join("\n"), longest.notes, shortNotice);
  const head = plan.previousSummary === null ? [] : [plan.previousSummary, ""];
  return [...head, "What happened since, one line for each step; results are not included:", events].join(
    "\n",
  );
}

function lineOf({ event }: ViewEvent): string[] {
  switch (event.kind) {
    case "MessageEvent": {
      const parts = (event.llm_message.content ?? []).map((part) => ("text" in part ? part.text : "[image]"));
      const who = event.source === "user" ? "Person" : event.source === "agent" ? "Agent" : "Environment";
      return [`${who}: ${oneLine(parts.join(" "))}`];
    }
    case "ActionEvent":
      return [`Call of ${event.tool_name}: ${oneLine(event.summary ?? event.tool_call.arguments)}`];
    case "AgentErrorEvent":
      return [`Failed: ${oneLine(event.error)}`];
    case "UserRejectObservation":
      return [`Rejected by the person: ${oneLine(event.rejection_reason ?? "no reason given")}`];
    default:
      return [];
  }
}

function oneLine(content: string): string {
  const line = content.replace(/\s+/gu, " ").trim();
  return line.length > longest.line ? `${line.slice(0, longest.line)}…` : line;
}
