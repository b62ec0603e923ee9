import { Readable } from "node:stream";
import { Fault } from "../../lib/fault.ts";
import { toOpenAiError } from "../../http/openai-errors.ts";
import type { AnswerPart } from "./follow-answer.ts";

export type Usage = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
};

export type CompletionDeps = {
  readonly id: string;
  readonly model: string;
  readonly nowMs: number;
  readonly parts: AsyncIterable<AnswerPart>;
  /** Tokens spent since the request came. */
  readonly usage: () => Promise<Usage>;
  /** Called with the whole answer. */
  readonly onAnswer: (text: string) => Promise<void>;
};

/** The whole answer in one reply. */
export async function completion(deps: CompletionDeps): Promise<object> {
  for await (const part of deps.parts) {
    if (part.type !== "done") continue;
    await deps.onAnswer(part.text);
    const message = { role: "assistant", content: part.text };
    return {
      ...headOf(deps, "chat.completion"),
      choices: [{ index: 0, message, finish_reason: "stop", logprobs: null }],
      usage: await deps.usage(),
    };
  }
  throw new Fault("not-now", "run_failed", "The request ended before its answer.");
}

/**
 * The answer as server-sent events, each chunk when it is made. A failure after the first chunk is sent as an event.
 */
export function completionStream(deps: CompletionDeps, includesUsage: boolean): Readable {
  return Readable.from(chunks(deps, includesUsage));
}

async function* chunks(deps: CompletionDeps, includesUsage: boolean): AsyncGenerator<string> {
  const chunk = (delta: object, finish: "stop" | null = null): string =>
    event({
      ...headOf(deps, "chat.completion.chunk"),
      choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
      ...(includesUsage ? { usage: null } : {}),
    });
  yield chunk({ role: "assistant", content: "" });
  let streamed = "";
  try {
    for await (const part of deps.parts) {
      if (part.type === "text") {
        streamed += part.text;
        yield chunk({ content: part.text });
        continue;
      }
      // Text from between tool calls stays; the last message is only sent when it was not streamed already.
      if (!streamed.endsWith(part.text))
        yield chunk({ content: streamed === "" ? part.text : `\n\n${part.text}` });
      // Clients send back what they saw, so the chat is identified by that text.
      await deps.onAnswer(
        streamed.endsWith(part.text) ? streamed : streamed === "" ? part.text : `${streamed}\n\n${part.text}`,
      );
    }
    yield chunk({}, "stop");
    if (includesUsage)
      yield event({ ...headOf(deps, "chat.completion.chunk"), choices: [], usage: await deps.usage() });
    yield "data: [DONE]\n\n";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    yield event(toOpenAiError(error.kind === "conflict" ? 409 : 503, error.code, error.message));
  }
}

function headOf({ id, model, nowMs }: CompletionDeps, kind: string): object {
  return { id: `chatcmpl-${id}`, object: kind, created: Math.floor(nowMs / 1000), model };
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
