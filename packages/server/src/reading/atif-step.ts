import type { ACPToolCallEvent, Event } from "@convoke/protocol";
import { endedAcpCall } from "./acp-call.ts";
import { listOf, objectOr, type JsonObject } from "../lib/json-object.ts";
import { parseObject } from "../lib/json-object.ts";

/** One step of a trajectory in the Agent Trajectory Interchange Format. */
export type AtifStep = {
  step_id: number;
  timestamp?: string;
  source: "system" | "user" | "agent";
  message: AtifContent;
  reasoning_content?: string;
  tool_calls?: AtifCall[];
  observation?: { results: AtifResult[] };
  metrics?: AtifMetrics;
  llm_call_count?: number;
  extra: Record<string, unknown>;
};

export type AtifContent = string | readonly AtifPart[];
type AtifPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly source: { readonly media_type: string; readonly path: string } };
export type AtifCall = {
  readonly tool_call_id: string;
  readonly function_name: string;
  readonly arguments: JsonObject;
  readonly extra: JsonObject;
};
export type AtifResult = {
  readonly source_call_id?: string;
  readonly content: AtifContent;
  readonly extra: JsonObject;
};
export type AtifMetrics = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly cost_usd: number;
};

type Draft = Omit<AtifStep, "step_id">;
type Kind<K extends Event["kind"]> = Extract<Event, { kind: K }>;

/** The beginning of a step of the agent: the first call of an answer. */
export function stepOfAction(event: Kind<"ActionEvent">): Draft {
  return {
    ...stampOf(event),
    source: "agent",
    message: textOf(event.thought),
    ...(event.reasoning_content ? { reasoning_content: event.reasoning_content } : {}),
    tool_calls: [],
    llm_call_count: 1,
    extra: { response_id: event.llm_response_id },
  };
}

/** Arguments that are not an object stay as they came, beside an empty one. */
export function callOf(event: Kind<"ActionEvent">): AtifCall {
  const { tool_call: call, security_risk: risk, summary } = event;
  const parsed = parseObject(call.arguments);
  return {
    tool_call_id: event.tool_call_id,
    function_name: event.tool_name,
    arguments: parsed ?? {},
    extra: {
      event_id: event.id,
      ...(risk === undefined ? {} : { security_risk: risk }),
      ...(summary ? { summary } : {}),
      ...(parsed === null ? { raw_arguments: call.arguments } : {}),
    },
  };
}

/** The result of a call; null for other events. */
export function resultOf(event: Event): Omit<AtifResult, "source_call_id"> | null {
  const extra = { event_id: event.id };
  switch (event.kind) {
    case "ObservationEvent": {
      const { content, is_error: isError } = event.observation as JsonObject;
      return { content: contentOf(content), extra: { ...extra, is_error: isError === true } };
    }
    case "AgentErrorEvent":
      return { content: event.error, extra: { ...extra, is_error: true } };
    case "UserRejectObservation":
      return {
        content: event.rejection_reason ?? "",
        extra: { ...extra, rejected_by: event.rejection_source ?? "user" },
      };
    default:
      return null;
  }
}

/** The step of an event that stands for itself; null for state updates, which are no part of a trajectory. */
export function stepOf(event: Event): Draft | null {
  const stamp = stampOf(event);
  const extra = { kind: event.kind, event_id: event.id };
  switch (event.kind) {
    case "ACPToolCallEvent":
      return stepOfAcpCall(event);
    case "MessageEvent": {
      const { content, reasoning_content: reasoning } = event.llm_message;
      const message = contentOf([...listOf(content), ...listOf(event.extended_content)]);
      if (event.source !== "agent")
        return { ...stamp, source: event.source === "user" ? "user" : "system", message, extra };
      const thoughts = reasoning ? { reasoning_content: reasoning } : {};
      const answer = { ...extra, response_id: event.llm_response_id ?? null };
      return { ...stamp, source: "agent", message, ...thoughts, llm_call_count: 1, extra: answer };
    }
    case "SystemPromptEvent":
      return {
        ...stamp,
        source: "system",
        message: textOf([event.system_prompt, ...(event.dynamic_context ? [event.dynamic_context] : [])]),
        extra,
      };
    case "Condensation":
      return {
        ...stamp,
        source: "system",
        message: event.summary ?? "",
        extra: { ...extra, forgotten_event_ids: event.forgotten_event_ids ?? [] },
      };
    case "CondensationSummaryEvent":
      return { ...stamp, source: "system", message: event.summary, extra };
    case "ConversationErrorEvent":
      return { ...stamp, source: "system", message: event.detail, extra: { ...extra, code: event.code } };
    case "ConversationStateUpdateEvent":
      return null;
    default:
      return { ...stamp, source: "system", message: event.kind, extra: { ...extra, event } };
  }
}

/** A call of another agent: nothing is known of the model calls around it. */
function stepOfAcpCall(event: ACPToolCallEvent): Draft | null {
  const call = endedAcpCall(event);
  if (call === null) return null;
  const { tool_call_id: id, tool_kind: kind, title } = event;
  const extra = { event_id: event.id };
  return {
    ...stampOf(event),
    source: "agent",
    message: "",
    tool_calls: [
      { tool_call_id: id, function_name: kind ?? "other", arguments: call.input, extra: { title } },
    ],
    observation: {
      results: [{ source_call_id: id, content: call.output, extra: { ...extra, is_error: call.isFailed } }],
    },
    extra: { kind: event.kind, ...extra },
  };
}

function stampOf({ timestamp }: Pick<Event, "timestamp">): { readonly timestamp?: string } {
  return timestamp === undefined ? {} : { timestamp };
}

function textOf(parts: readonly unknown[]): string {
  return parts
    .map((part) => objectOr(part)["text"])
    .filter((text) => typeof text === "string")
    .join("\n");
}

const mediaTypes: Readonly<Record<string, string>> = {
  gif: "image/gif",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
};

/** A text, or parts where there are pictures at addresses. The format has no place for a picture's bytes. */
function contentOf(content: unknown): AtifContent {
  const parts = listOf(content).flatMap((part) => partsOf(objectOr(part)));
  return parts.some(({ type }) => type === "image") ? parts : textOf(parts);
}

function partsOf(part: JsonObject): AtifPart[] {
  if (typeof part["text"] === "string") return [{ type: "text", text: part["text"] }];
  return listOf(part["image_urls"]).map((address): AtifPart => {
    const [, ending = ""] = /^https?:\/\/[^?#]*\.(\w+)(?:[?#]|$)/i.exec(String(address)) ?? [];
    const mediaType = mediaTypes[ending.toLowerCase()];
    if (mediaType !== undefined)
      return { type: "image", source: { media_type: mediaType, path: String(address) } };
    const [, type = "picture"] = /^data:([\w/+.-]+)/.exec(String(address)) ?? [];
    return { type: "text", text: `[${type}, ${String(address).length} characters, not included]` };
  });
}
