import type { Edit } from "./edit-body.ts";

const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
const lateSystem: Edit = [["messages.+", { role: "system", content: "Be kind." }]];
const manyTools: Edit = [
  [
    "tools",
    Array.from({ length: 129 }, (_, at) => ({
      type: "function",
      function: { name: `look_${at}`, parameters: { type: "object", properties: {} } },
    })),
  ],
];
const noTools: Edit = [["tools", []]];
const seenMessage: Edit = [["messages.2.seen", true]];
const seenCall: Edit = [["messages.2.tool_calls.0.seen", true]];
const seenBody: Edit = [["seen", true]];
const nullText: Edit = [["messages.1.content", null]];
const thought: Edit = [["messages.2.reasoning_content", "Hm."]];
const bare: Edit = [["messages.2.reasoning_content", undefined]];
const foreignSeal = "c2VhbGVkIGVsc2V3aGVyZQ==";
const longDescription: Edit = [["tools.0.function.description", "d".repeat(1025)]];
const halfInArguments: Edit = [["messages.2.tool_calls.0.function.arguments", '{"path":"a\\ud83d b"}']];

/** Faults that only some wires or providers detect: the provider, the fault, and words of its refusal. */
export const ownFaults: readonly (readonly [provider: string, what: string, edit: Edit, words: string])[] = [
  ["openai", "a description of 1025 characters", longDescription, "string too long"],
  ["azure", "a description of 1025 characters", longDescription, "string too long"],
  ["openai", "129 tools", manyTools, "array too long"],
  ["openai", "a list of no tools", noTools, "Invalid 'tools': empty array"],
  ["openai", "a field of a message", thought, "Unknown parameter: 'messages[2].reasoning_content'"],
  ["openai", "a field of a call", seenCall, "Unknown parameter: 'messages[2].tool_calls[0].seen'"],
  ["openai", "a field of the body", [["top_k", 1]], "Unrecognized request argument supplied: top_k"],
  ["openai", "no content", nullText, "expected a string, got null"],
  [
    "openai",
    "max_tokens for a reasoning model",
    [
      ["model", "gpt-5"],
      ["max_tokens", 9],
    ],
    "Use 'max_completion_tokens' instead",
  ],
  [
    "openai",
    "a temperature for a reasoning model",
    [
      ["model", "o3"],
      ["temperature", 0.5],
    ],
    "'temperature' is not supported with this model",
  ],
  [
    "openai-responses",
    "a seal of another",
    [["input.1.encrypted_content", foreignSeal]],
    "could not be verified",
  ],
  [
    "openai-responses",
    "reasoning without its seal",
    [["input.1.encrypted_content", undefined]],
    "are not persisted",
  ],
  ["openai-responses", "a field of the body", [["max_tokens", 9]], "Unknown parameter: 'max_tokens'"],
  [
    "anthropic",
    "a signature of another",
    [["messages.1.content.0.signature", foreignSeal]],
    "Invalid `signature`",
  ],
  [
    "anthropic",
    "an answer without its thinking",
    [
      ["messages.1.content.0", undefined],
      ["thinking", { type: "enabled", budget_tokens: 1024 }],
      ["max_tokens", 4096],
    ],
    "Expected `thinking` or `redacted_thinking`",
  ],
  ["anthropic", "no max_tokens", [["max_tokens", undefined]], "max_tokens: Field required"],
  ["anthropic", "a field of the body", seenBody, "seen: Extra inputs are not permitted"],
  ["anthropic", "a system message", [["messages.0.role", "system"]], "Unexpected role"],
  [
    "anthropic",
    "temperature beside top_p",
    [
      ["temperature", 0.5],
      ["top_p", 0.5],
    ],
    "cannot both be specified",
  ],
  [
    "anthropic",
    "a prefilled answer",
    [
      ["model", "claude-opus-4-6"],
      ["messages.+", { role: "assistant", content: "It is" }],
    ],
    "does not support assistant message prefill",
  ],
  [
    "anthropic",
    "a call twice",
    [
      ["messages.1.content.+", { type: "tool_use", id: "x", name: "look", input: {} }],
      ["messages.1.content.+", { type: "tool_use", id: "x", name: "look", input: {} }],
    ],
    "ids must be unique",
  ],
  [
    "google",
    "a call without its signature",
    [["contents.1.parts.2.thoughtSignature", undefined]],
    "thought_signature",
  ],
  [
    "google",
    "a signature of another",
    [["contents.1.parts.2.thoughtSignature", foreignSeal]],
    "Corrupted thought signature",
  ],
  [
    "google-chat",
    "a call without its signature",
    [["messages.2.tool_calls.0.extra_content", undefined]],
    "thought_signature",
  ],
  [
    "openrouter",
    "no reasoning details",
    [["messages.2.reasoning_details", undefined]],
    "reasoning details to be preserved",
  ],
  [
    "google",
    "a schema of 20 levels",
    [["tools.0.functionDeclarations.0.parameters", nested(20)]],
    "nesting depth",
  ],
  ["mistral", "a field of a message", thought, "Extra inputs are not permitted"],
  ["mistral", "a field of a call", seenCall, "Extra inputs are not permitted"],
  ["mistral", "a field of the body", [["seed", 1]], "Extra inputs are not permitted"],
  [
    "mistral",
    "a user after a result",
    [["messages.+", { role: "user", content: "And?" }]],
    "Unexpected role 'user' after role 'tool'",
  ],
  ["mistral", "a late system message", lateSystem, "Unexpected role 'system' after role 'tool'"],
  ["deepseek", "a call without what was thought", bare, "must be passed back"],
  ["deepseek-alias", "a call without what was thought", bare, "must be passed back"],
  ["deepseek-older", "what was thought", thought, "must not be included"],
  ["deepseek", "an image", [["messages.1.content", [image]]], "unknown variant `image_url`"],
  ["deepseek", "a list of no tools", noTools, "[] is too short - 'tools'"],
  ["mimo", "a call without what was thought", bare, "must be passed back"],
  [
    "moonshot",
    "a call without what was thought",
    bare,
    "reasoning_content is missing in assistant tool call message at index 2",
  ],
  [
    "moonshot",
    "a tool name with a digit first",
    [["tools.0.function.name", "21st_look"]],
    "must start with a letter",
  ],
  ["moonshot", "129 tools", manyTools, "not be more than 128"],
  ["dashscope", "a call without what was thought", bare, "must be passed back"],
  ["dashscope", "no content", nullText, "The content field is a required field."],
  ["glm", "a call without what was thought", bare, "must be passed back"],
  ["glm", "nobody who asks", [["messages.1.role", "system"]], "The messages parameter is illegal"],
  ["groq", "what was thought", thought, "property 'reasoning_content' is unsupported"],
  ["groq-kimi", "what was thought", thought, "property 'reasoning_content' is unsupported"],
  ["groq", "a field of a call", seenCall, "property 'seen' is unsupported"],
  ["groq", "a field of the body", [["top_k", 1]], "property 'top_k' is unsupported"],
  ["groq", "an image", [["messages.1.content", [image]]], "content must be a string"],
  ["groq", "129 tools", manyTools, "maximum number of items is 128"],
  [
    "fireworks",
    "a field of a message",
    seenMessage,
    "Extra inputs are not permitted, field: 'messages[2].seen'",
  ],
  ["fireworks", "a field of the body", seenBody, "Extra inputs are not permitted, field: 'seen'"],
  ["bedrock", "calls and no tools", [["toolConfig", undefined]], "toolConfig field must be defined"],
  [
    "bedrock",
    "no content",
    [["messages.0.content", []]],
    "content field in the Message object at messages.0 is empty",
  ],
  ["vllm", "half a pair in arguments", halfInArguments, "unable to parse raw data as a unicode string"],
  ["sglang", "half a pair in arguments", halfInArguments, "surrogates not allowed"],
  ["sglang", "a late system message", lateSystem, "System message must be at the beginning"],
  ["llama-cpp", "half a pair in arguments", halfInArguments, "must be followed by U+DC00..U+DFFF"],
  [
    "llama-cpp",
    "two answers at the end",
    [
      ["messages.+", { role: "assistant", content: "It is" }],
      ["messages.+", { role: "assistant", content: "there." }],
    ],
    "Cannot have 2 or more assistant messages",
  ],
  ["ollama", "no content", nullText, "invalid message content type"],
  ["ollama", "an image at an address", [["messages.1.content", [image]]], "invalid image input"],
];

function nested(levels: number): unknown {
  return levels === 0
    ? { type: "string" }
    : { type: "object", properties: { inner: nested(levels - 1) }, required: ["inner"] };
}
