import { randomUUID } from "node:crypto";
import type { ClientToolSpec, OpenAIResponseRequest } from "@convoke/protocol";
import type { Usage } from "./completion.ts";
import type { RunPart } from "./run-parts.ts";

type OutputItem = Readonly<Record<string, unknown>> & { readonly id: string };

export type ResponseStatus = "in_progress" | "completed" | "failed" | "cancelled";

export type ResponseFacts = {
  readonly id: string;
  readonly conversationId: string;
  readonly model: string;
  readonly createdAtMs: number;
  readonly tools: readonly ClientToolSpec[];
  /** What the request said; null where it is read later, because it is not stored. */
  readonly request: OpenAIResponseRequest | null;
};

export type ResponseState = {
  readonly status: ResponseStatus;
  readonly output: readonly OutputItem[];
  readonly completedAtMs: number | null;
  readonly usage: Usage | null;
  readonly problem?: string;
};

/** A response of OpenAI's API. */
export function toResponse(facts: ResponseFacts, state: ResponseState): Record<string, unknown> {
  const { request, usage } = { ...facts, ...state };
  return {
    id: facts.id,
    object: "response",
    created_at: Math.floor(facts.createdAtMs / 1000),
    completed_at: state.completedAtMs === null ? null : Math.floor(state.completedAtMs / 1000),
    status: state.status,
    background: request === null ? null : request.background === true,
    error: state.problem === undefined ? null : { code: "server_error", message: state.problem },
    incomplete_details: null,
    model: facts.model,
    instructions: request?.instructions ?? null,
    metadata: request?.metadata ?? {},
    previous_response_id: request?.previous_response_id ?? null,
    conversation: { id: facts.conversationId },
    output: state.output,
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: facts.tools.map(({ name, description, parameters = null }) => ({
      type: "function",
      name,
      description,
      parameters,
      strict: false,
    })),
    max_output_tokens: null,
    temperature: null,
    top_p: null,
    truncation: "disabled",
    store: true,
    text: { format: { type: "text" } },
    usage: usage === null ? null : toUsage(usage),
  };
}

/**
 * The items of a run that is read whole: the agent's reasoning, calls of tools of the client, and its last text. What it says between calls
 * is left out, as in a chat that is not streamed.
 */
export function toOutput(parts: readonly RunPart[], text: string): OutputItem[] {
  const items = parts.flatMap((part) => {
    if (part.type === "reasoning") return [reasoningItem(newItemId("rs"), part.text)];
    return part.type === "call" ? [callItem(newItemId("fc"), part)] : [];
  });
  return text === "" ? items : [...items, messageItem(newItemId("msg"), text)];
}

export function newItemId(kind: "rs" | "fc" | "msg"): string {
  return `${kind}_${randomUUID().replaceAll("-", "")}`;
}

export function messageItem(id: string, text: string, isLast = true): OutputItem {
  return {
    id,
    type: "message",
    role: "assistant",
    status: "completed",
    phase: isLast ? "final_answer" : "commentary",
    content: [textPart(text)],
  };
}

export function textPart(text: string): object {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

export function reasoningItem(id: string, text: string): OutputItem {
  return { id, type: "reasoning", status: "completed", summary: [{ type: "summary_text", text }] };
}

export function callItem(
  id: string,
  { callId, name, arguments: args }: Extract<RunPart, { type: "call" }>,
): OutputItem {
  return { id, type: "function_call", status: "completed", call_id: callId, name, arguments: args };
}

function toUsage({ prompt_tokens: input, completion_tokens: output, total_tokens: total }: Usage): object {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: total,
  };
}
