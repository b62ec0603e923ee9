import { createChatWire } from "../../scripted-model/openai-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { contentIsThere } from "../checks/contents.ts";
import { oneType } from "../checks/schema-rules.ts";
import { schemas } from "../checks/tool-schemas.ts";
import { readChat } from "../readings/read-chat.ts";
import { isValue, listOf } from "../readings/reading.ts";
import type { Check, StrictProvider } from "../strict-provider.ts";
import { lettersOf, openaiBody } from "./chat-rules.ts";

/** Images are part of the request; an address is not fetched. */
const inlineImages: Check = (_request, { messages }) => {
  for (const { raw } of messages) {
    const remote = listOf(raw["content"]).some((part) => {
      const image = part["image_url"];
      const url = isValue(image) ? image["url"] : image;
      return part["type"] === "image_url" && !String(url).startsWith("data:image/");
    });
    if (remote) return { message: "invalid image input" };
  }
  return null;
};

/** Ollama. Its reader mends half a pair by itself; its reasoning is in `reasoning`. */
export const ollama: StrictProvider = {
  name: "ollama",
  wire: createChatWire({ toReasoning: (reasoning) => ({ reasoning }) }),
  llm: { model: "ollama/qwen3:8b" },
  path: "/v1",
  models: ["qwen3:8b"],
  read: readChat,
  checks: [
    // Source: ollama/ollama openai/openai.go, `fromChatRequest`: the words of these three.
    contentIsThere(() => ({ message: "invalid message content type: <nil>" })),
    argumentsAreObjects(() => ({ message: "invalid tool call arguments" })),
    inlineImages,
    // Source: ollama/ollama#10328.
    schemas(oneType, (_tool, { found }) => ({
      message:
        `json: cannot unmarshal ${Array.isArray(found) ? "array" : typeof found} into Go struct field ` +
        ".tools.function.parameters.properties.type of type string",
    })),
  ],
  toBody: openaiBody,
  toCallId: (seed) => `call_${lettersOf(seed, 8)}`,
  window: 32_768,
  overflow: (tokens, window) => ({
    message: `prompt too long; exceeded max context length by ${tokens - window} tokens`,
  }),
};
