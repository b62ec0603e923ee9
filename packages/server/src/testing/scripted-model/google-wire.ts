import type { Played } from "./script-player.ts";
import { defaultErrorMessage, splitText, toObject, type Wire } from "./wire.ts";

type Part = Readonly<Record<string, unknown>>;
type Content = { readonly role?: string; readonly parts?: readonly Part[] };

/** Gemini, generateContent. Source of the shapes: Gemini API reference, generating content. */
export const googleWire: Wire = {
  name: "google",
  readFacts: (body) => {
    const contents = Array.isArray(body["contents"]) ? (body["contents"] as Content[]) : [];
    const isModel = (content: Content): boolean => content.role === "model";
    const lastUser = contents.findLastIndex((content) => !isModel(content) && textOf(content) !== "");
    const lastModel = contents.findLastIndex(isModel);
    const tools = Array.isArray(body["tools"])
      ? (body["tools"] as { functionDeclarations?: { name?: string }[] }[])
      : [];
    return {
      assistantMessages: contents.filter(isModel).length,
      assistantMessagesSinceUser: contents.slice(lastUser + 1).filter(isModel).length,
      lastUserText: textOf(contents[lastUser]),
      lastToolOutput: contents
        .slice(lastModel + 1)
        .flatMap(outputsOf)
        .join("\n"),
      toolNames: tools.flatMap((tool) => (tool.functionDeclarations ?? []).flatMap(({ name }) => name ?? [])),
      fingerprint: JSON.stringify([body["systemInstruction"] ?? null, ...contents]),
    };
  },
  toEvents: (played, model) => chunksOf(played, model).map((chunk) => `data: ${JSON.stringify(chunk)}`),
  toJson: (played, model) => ({
    ...head(played, model),
    candidates: played.turn.empty === true ? [] : [candidate(wholeParts(played), finishOf(played))],
    usageMetadata: usageOf(played),
  }),
  toError: (error) => ({
    error: {
      code: error.status,
      message: defaultErrorMessage(error),
      status:
        error.type ?? statusNames[error.status] ?? (error.status < 500 ? "INVALID_ARGUMENT" : "INTERNAL"),
    },
  }),
  overflow: {
    status: 400,
    type: "INVALID_ARGUMENT",
    message: "The input token count (2000) exceeds the maximum number of tokens allowed (1000).",
  },
};

const statusNames: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

function textOf(content: Content | undefined): string {
  return (content?.parts ?? [])
    .flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : []))
    .join("\n");
}

function outputsOf(content: Content): string[] {
  return (content.parts ?? []).flatMap((part) => {
    const { functionResponse: answer } = part as { functionResponse?: { response?: { content?: unknown } } };
    const text = answer?.response?.content;
    return typeof text === "string" ? [text] : [];
  });
}

function head({ answer }: Played, model: string): Part {
  return { responseId: answer.id, modelVersion: model };
}

function candidate(parts: readonly Part[], finishReason: string | null): Part {
  return { index: 0, content: { role: "model", parts }, ...(finishReason === null ? {} : { finishReason }) };
}

function chunksOf(played: Played, model: string): Part[] {
  const usageMetadata = usageOf(played);
  if (played.turn.empty === true) return [{ ...head(played, model), usageMetadata }];
  const chunks = wholeParts(played).flatMap((part) => {
    if (typeof part["text"] !== "string") return [part];
    const { text, ...rest } = part;
    const texts = splitText(text, played.turn.chunk_size);
    const { thoughtSignature, ...first } = rest;
    return texts.map((portion, at) => ({
      text: portion,
      ...first,
      ...(thoughtSignature !== undefined && at === texts.length - 1 ? { thoughtSignature } : {}),
    }));
  });
  return [
    ...chunks.map((part) => ({
      ...head(played, model),
      candidates: [candidate([part], null)],
      usageMetadata,
    })),
    { ...head(played, model), candidates: [candidate([{ text: "" }], finishOf(played))], usageMetadata },
  ];
}

/** The script's signature is on the first call; without calls, on the text, or on the thought itself. */
function wholeParts({ answer, turn }: Played): Part[] {
  const signed = turn.signature === undefined ? {} : { thoughtSignature: turn.signature };
  const isOnText = answer.toolCalls.length === 0;
  return [
    ...(answer.reasoning === ""
      ? []
      : [{ text: answer.reasoning, thought: true, ...(isOnText && answer.text === "" ? signed : {}) }]),
    ...(answer.text === "" ? [] : [{ text: answer.text, ...(isOnText ? signed : {}) }]),
    ...answer.toolCalls.map((call, at) => ({
      functionCall: { id: call.id, name: call.name, args: toObject(call.arguments) },
      ...(at === 0 ? signed : {}),
    })),
  ];
}

function finishOf({ turn }: Played): string {
  const reasons = { stop: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY" } as const;
  return reasons[turn.finish_reason ?? "stop"];
}

function usageOf({ answer: { usage } }: Played): Part {
  return {
    promptTokenCount: usage.prompt_tokens,
    candidatesTokenCount: Math.max(0, usage.completion_tokens - usage.reasoning_tokens),
    thoughtsTokenCount: usage.reasoning_tokens,
    cachedContentTokenCount: usage.cache_read_tokens,
    totalTokenCount: usage.prompt_tokens + usage.completion_tokens,
  };
}
