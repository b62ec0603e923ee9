import { randomUUID } from "node:crypto";
import type { OpenAIResponseRequest } from "@convoke/protocol";
import type { Clock } from "../../lib/clock.ts";
import { Fault } from "../../lib/fault.ts";
import type { CompletionDeps } from "./completion.ts";

/** The whole answer in the form of `/v1/responses`. */
export async function response(
  deps: CompletionDeps,
  { model, instructions = null, metadata = null }: OpenAIResponseRequest,
  clock: Clock,
): Promise<object> {
  for await (const part of deps.parts) {
    if (part.type !== "done") continue;
    await deps.onAnswer(part.text);
    const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = await deps.usage();
    return {
      id: idOf("resp"),
      object: "response",
      created_at: Math.floor(deps.nowMs / 1000),
      completed_at: Math.floor(clock.nowMs() / 1000),
      status: "completed",
      model,
      instructions,
      metadata,
      previous_response_id: null,
      output: [
        {
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: part.text, annotations: [] }],
          id: idOf("msg"),
        },
      ],
      parallel_tool_calls: false,
      tool_choice: "none",
      tools: [],
      usage: {
        input_tokens: input,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: total,
      },
    };
  }
  throw new Fault("not-now", "run_failed", "The request ended before its answer.");
}

function idOf(kind: string): string {
  return `${kind}_${randomUUID().replaceAll("-", "")}`;
}
