import type { Event, ImageContent, TextContent } from "@convoke/protocol";
import { clipText, shortNotice } from "@convoke/tool-host";
import type { ViewEvent } from "../history-view.ts";
import { observationContent } from "../observation-content.ts";
import { plainText } from "../plain-text.ts";

/** Events as a model reads them that shall sum them up: whole where they are short, cut in the middle where they are long. */
export function transcriptOf(events: readonly ViewEvent[], charactersPerItem: number): string {
  const cut = (given: string): string => {
    const content = plainText(given);
    return content.length > charactersPerItem ? clipText(content, charactersPerItem, shortNotice) : content;
  };
  return events.flatMap(({ event }) => entriesOf(event, cut)).join("\n");
}

type Cut = (content: string) => string;

function entriesOf(event: Event, cut: Cut): string[] {
  switch (event.kind) {
    case "MessageEvent": {
      const { content } = event.llm_message;
      const answer = contentText([...(content ?? []), ...(event.extended_content ?? [])]);
      return [entry(`message from="${speakers[event.source ?? "user"] ?? "environment"}"`, cut(answer))];
    }
    case "ActionEvent": {
      const thought = event.thought.map((part) => part.text).join("\n");
      const call = entry(`call tool="${event.tool_name}"`, cut(event.tool_call.arguments));
      return thought.trim() === "" ? [call] : [entry("thought", cut(thought)), call];
    }
    case "ObservationEvent":
      return [
        entry(`result tool="${event.tool_name}"`, cut(contentText(observationContent(event.observation)))),
      ];
    case "AgentErrorEvent":
      return [entry(`error tool="${event.tool_name}"`, cut(event.error))];
    case "UserRejectObservation":
      return [entry(`rejected tool="${event.tool_name}"`, cut(event.rejection_reason ?? ""))];
    default:
      return [];
  }
}

const speakers: Readonly<Record<string, string>> = { user: "person", agent: "agent" };

function entry(head: string, content: string): string {
  return `<${head}>\n${content}\n</${head.split(" ")[0]}>`;
}

function contentText(content: readonly (TextContent | ImageContent)[]): string {
  return content.map((part) => ("text" in part ? part.text : "[image]")).join("\n");
}
