import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
} from "@ai-sdk/provider";
import { readInlineImage } from "../inline-image.ts";
import { isBlank, placeholders, toWordId } from "../message-text.ts";
import type { AssistantMessage, ModelMessage, ModelRequest } from "../model.ts";
import { parseReplayedArguments } from "../replayed-arguments.ts";

type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];
type ResultPart = Extract<LanguageModelV4Message, { role: "tool" }>["content"][number];
type Tools = NonNullable<LanguageModelV4CallOptions["tools"]>;
type ProviderOptions = NonNullable<LanguageModelV4Message["providerOptions"]>;

/** Where providers behind the AI SDK differ in what they want of a history. */
export type PromptStyle = {
  /** The parts of an answer as the provider wants them back, calls excepted; null for the neutral form. */
  readonly toReplayed: (message: AssistantMessage) => readonly AssistantPart[] | null;
  /** Marks the end of what a prompt cache should keep; absent where nothing is marked. */
  readonly cacheMark?: ProviderOptions | undefined;
};

/** Translates messages for the AI SDK's language models. System texts come first, results of one batch are one message. Pure. */
export function toPrompt(messages: readonly ModelMessage[], style: PromptStyle): LanguageModelV4Prompt {
  const systems = messages.flatMap((message) => (message.role === "system" ? message.content : []));
  const prompt: LanguageModelV4Prompt = systems
    .filter((part) => !isBlank(part.text))
    .map(({ text }, index) => ({ role: "system", content: text, ...(index === 0 ? mark(style) : {}) }));
  for (const message of messages) {
    if (message.role === "system") continue;
    if (message.role === "assistant") {
      const content = toAssistantParts(message, style);
      if (content.length > 0) prompt.push({ role: "assistant", content: [...content] });
      continue;
    }
    if (message.role === "user") {
      prompt.push({ role: "user", content: toUserParts(message) });
      continue;
    }
    const last = prompt.at(-1);
    if (last?.role === "tool") last.content.push(toResult(message));
    else prompt.push({ role: "tool", content: [toResult(message)] });
  }
  const inputs = prompt.filter((message) => message.role === "user" || message.role === "tool").slice(-2);
  for (const message of inputs) Object.assign(message, mark(style));
  return prompt;
}

export function toTools(request: ModelRequest): Tools {
  return request.tools.map(({ name, description, parameters }) => ({
    type: "function",
    name,
    description,
    inputSchema: { ...parameters },
  }));
}

function mark(style: PromptStyle): { providerOptions?: ProviderOptions } {
  return style.cacheMark === undefined ? {} : { providerOptions: style.cacheMark };
}

function toUserParts(
  message: Extract<ModelMessage, { role: "user" }>,
): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
  const parts = toInputParts(message);
  return parts.length > 0 ? parts : [{ type: "text", text: placeholders.user }];
}

function toInputParts(
  message: Extract<ModelMessage, { role: "user" | "tool" }>,
): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
  return message.content.flatMap((part): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] => {
    if (!("image_urls" in part))
      return isBlank(part.text) ? [] : [{ type: "text" as const, text: part.text }];
    return part.image_urls.flatMap((url) => {
      const image = readInlineImage(url);
      if (image === null) return [];
      const data = { type: "data" as const, data: image.base64 };
      return [{ type: "file" as const, mediaType: image.mediaType, data }];
    });
  });
}

function toAssistantParts(message: AssistantMessage, style: PromptStyle): readonly AssistantPart[] {
  const replayed = style.toReplayed(message);
  if (replayed !== null) return replayed;
  const text = message.content.map((part) => part.text).join("");
  return [
    ...(isBlank(text) ? [] : [{ type: "text" as const, text }]),
    ...message.toolCalls.map((call) => toCall(call)),
  ];
}

/** One call as these libraries want it; `options` carry what the provider attached to it. */
export function toCall(
  call: AssistantMessage["toolCalls"][number],
  providerOptions?: ProviderOptions,
): AssistantPart {
  return {
    type: "tool-call",
    toolCallId: toWordId(call.id),
    toolName: call.name,
    input: parseReplayedArguments(call.arguments),
    ...(providerOptions === undefined ? {} : { providerOptions }),
  };
}

function toResult(message: Extract<ModelMessage, { role: "tool" }>): ResultPart {
  const parts = toInputParts(message);
  const hasFile = parts.some((part) => part.type === "file");
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n\n");
  return {
    type: "tool-result",
    toolCallId: toWordId(message.toolCallId),
    toolName: message.name,
    output: hasFile
      ? { type: "content", value: parts }
      : { type: "text", value: isBlank(text) ? placeholders.tool : text },
  };
}
