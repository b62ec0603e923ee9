import type { WireName } from "../../scripted-model/wire.ts";
import type { Edit } from "./edit-body.ts";

/** Faults that a request can have on every wire, by name. */
export type EditName =
  | "half a pair in a text"
  | "arguments that are no object"
  | "a called name with a dot"
  | "a called name of nothing"
  | "a tool name with a blank"
  | "two tools of one name"
  | "an id with a colon"
  | "an id of 70 characters"
  | "a call without a result"
  | "a result without a call"
  | "a blank text"
  | "two users"
  | "an answer at the end";

const half = "x\ud83d y";
const long = "i".repeat(70);
const dotted = "functions.look";

export const edits: Readonly<Record<WireName, Readonly<Record<EditName, Edit>>>> = {
  "openai-chat": {
    "half a pair in a text": [["messages.1.content", half]],
    "arguments that are no object": [["messages.2.tool_calls.0.function.arguments", "[1]"]],
    "a called name with a dot": [["messages.2.tool_calls.0.function.name", dotted]],
    "a called name of nothing": [["messages.2.tool_calls.0.function.name", ""]],
    "a tool name with a blank": [["tools.0.function.name", "look here"]],
    "two tools of one name": [
      ["tools.+", { type: "function", function: { name: "look", parameters: objects() } }],
    ],
    "an id with a colon": [
      ["messages.2.tool_calls.0.id", "toolu.0:x"],
      ["messages.3.tool_call_id", "toolu.0:x"],
    ],
    "an id of 70 characters": [
      ["messages.2.tool_calls.0.id", long],
      ["messages.3.tool_call_id", long],
    ],
    "a call without a result": [["messages.3", { role: "user", content: "And?" }]],
    "a result without a call": [["messages.2.tool_calls", undefined]],
    "a blank text": [["messages.1.content", ""]],
    "two users": [
      ["messages.1", { role: "user", content: "Go." }],
      ["messages.2", { role: "user", content: "Now." }],
      ["messages.3", undefined],
    ],
    "an answer at the end": [["messages.+", { role: "assistant", content: "It is" }]],
  },
  "openai-responses": {
    "half a pair in a text": [["input.0.content.0.text", half]],
    "arguments that are no object": [["input.3.arguments", "[1]"]],
    "a called name with a dot": [["input.3.name", dotted]],
    "a called name of nothing": [["input.3.name", ""]],
    "a tool name with a blank": [["tools.0.name", "look here"]],
    "two tools of one name": [["tools.+", { type: "function", name: "look", parameters: objects() }]],
    "an id with a colon": [
      ["input.3.call_id", "toolu.0:x"],
      ["input.4.call_id", "toolu.0:x"],
    ],
    "an id of 70 characters": [
      ["input.3.call_id", long],
      ["input.4.call_id", long],
    ],
    "a call without a result": [["input.4", undefined]],
    "a result without a call": [["input.3", undefined]],
    "a blank text": [["input.0.content.0.text", ""]],
    "two users": [["input.+", { type: "message", role: "user", content: "And?" }]],
    "an answer at the end": [["input.+", { type: "message", role: "assistant", content: "It is" }]],
  },
  anthropic: {
    "half a pair in a text": [["messages.0.content.0.text", half]],
    "arguments that are no object": [["messages.1.content.2.input", [1]]],
    "a called name with a dot": [["messages.1.content.2.name", dotted]],
    "a called name of nothing": [["messages.1.content.2.name", ""]],
    "a tool name with a blank": [["tools.0.name", "look here"]],
    "two tools of one name": [["tools.+", { name: "look", input_schema: objects() }]],
    "an id with a colon": [
      ["messages.1.content.2.id", "toolu.0:x"],
      ["messages.2.content.0.tool_use_id", "toolu.0:x"],
    ],
    "an id of 70 characters": [
      ["messages.1.content.2.id", long],
      ["messages.2.content.0.tool_use_id", long],
    ],
    "a call without a result": [["messages.2.content.0", { type: "text", text: "And?" }]],
    "a result without a call": [["messages.1.content.2", undefined]],
    "a blank text": [["messages.0.content.0.text", " "]],
    "two users": [["messages.+", { role: "user", content: "And?" }]],
    "an answer at the end": [["messages.+", { role: "assistant", content: "It is" }]],
  },
  google: {
    "half a pair in a text": [["contents.0.parts.0.text", half]],
    "arguments that are no object": [["contents.1.parts.2.functionCall.args", [1]]],
    "a called name with a dot": [["contents.1.parts.2.functionCall.name", dotted]],
    "a called name of nothing": [["contents.1.parts.2.functionCall.name", ""]],
    "a tool name with a blank": [["tools.0.functionDeclarations.0.name", "look here"]],
    "two tools of one name": [["tools.0.functionDeclarations.+", { name: "look", parameters: objects() }]],
    "an id with a colon": [["contents.1.parts.2.functionCall.id", "toolu.0:x"]],
    "an id of 70 characters": [["contents.1.parts.2.functionCall.id", long]],
    "a call without a result": [["contents.2.parts.0", { text: "And?" }]],
    "a result without a call": [["contents.1.parts.2", undefined]],
    "a blank text": [["contents.0.parts.0", {}]],
    "two users": [["contents.+", { role: "user", parts: [{ text: "And?" }] }]],
    "an answer at the end": [["contents.+", { role: "model", parts: [{ text: "It is" }] }]],
  },
  bedrock: {
    "half a pair in a text": [["messages.0.content.0.text", half]],
    "arguments that are no object": [["messages.1.content.2.toolUse.input", [1]]],
    "a called name with a dot": [["messages.1.content.2.toolUse.name", dotted]],
    "a called name of nothing": [["messages.1.content.2.toolUse.name", ""]],
    "a tool name with a blank": [["toolConfig.tools.0.toolSpec.name", "look here"]],
    "two tools of one name": [
      [
        "toolConfig.tools.+",
        { toolSpec: { name: "look", description: "Looks.", inputSchema: { json: objects() } } },
      ],
    ],
    "an id with a colon": [
      ["messages.1.content.2.toolUse.toolUseId", "toolu.0:x"],
      ["messages.2.content.0.toolResult.toolUseId", "toolu.0:x"],
    ],
    "an id of 70 characters": [
      ["messages.1.content.2.toolUse.toolUseId", long],
      ["messages.2.content.0.toolResult.toolUseId", long],
    ],
    "a call without a result": [["messages.2.content.0", { text: "And?" }]],
    "a result without a call": [["messages.1.content.2", undefined]],
    "a blank text": [["messages.0.content.0.text", " "]],
    "two users": [["messages.+", { role: "user", content: [{ text: "And?" }] }]],
    "an answer at the end": [["messages.+", { role: "assistant", content: [{ text: "It is" }] }]],
  },
};

function objects(): unknown {
  return { type: "object", properties: {} };
}
