import {
  parseIncomingMessage,
  SendMessageRequest,
  SendToolResultsRequest,
  type Message,
  type WhileRunning,
} from "@convoke/protocol";
import { answerSchemaFault, findUnusedFields, type Validator } from "@convoke/protocol/validate";
import type { ClientResult } from "../../../engine/client-calls.ts";
import { unstorableTexts } from "../../../http/stored-texts.ts";
import { describeFaults, faultsOfUnused, namesOfUnused } from "../../../http/unused-fields.ts";
import { Fault } from "../../../lib/fault.ts";
import { formatInstant } from "../../../lib/instant.ts";
import { nextUuid7 } from "../../../lib/uuid7.ts";
import type { JsonObject } from "../../../lib/json-object.ts";
import { readToolResults } from "../conversations/read-tool-results.ts";
import { parseObject } from "./socket-auth.ts";
import type { SocketFrame } from "./socket-frames.ts";

export type SocketInput =
  | {
      readonly type: "message";
      readonly message: Message;
      readonly sender: string | undefined;
      readonly clientMessageId: string | undefined;
      readonly responseSchema: JsonObject | undefined;
      readonly whileRunning: WhileRunning | null;
      /** Fields that change nothing. */
      readonly unused: readonly string[];
    }
  | { readonly type: "tool_results"; readonly results: readonly ClientResult[] }
  | { readonly type: "error"; readonly code: string; readonly detail: string }
  /** A redundant auth frame. */
  | { readonly type: "ignore" };

/** Reads one input frame: a user message whose content is a list of parts or plain text. */
export function readSocketMessage({ text }: SocketFrame, validator: Validator): SocketInput {
  if (text === null)
    return bad("binary_frame", "Binary frames are not understood. Send a message as JSON text.");
  const frame = parseObject(text);
  if (frame === null)
    return bad("invalid_json", "The frame is not a JSON object. Send a message as JSON text.");
  if (frame["type"] === "auth") return { type: "ignore" };
  if (frame["type"] === "tool_results") return readResults(frame, validator);
  // An empty message starts a run, so its content must be given explicitly.
  if (!("content" in frame || "role" in frame))
    return bad("invalid_message", "message.content: Add this field: it is required.");
  const unused = findUnusedFields(SendMessageRequest, frame, ["message"]);
  const nearMisses = faultsOfUnused(unused);
  if (nearMisses.length > 0) return bad("invalid_message", describeFaults(nearMisses));
  const unstorable = unstorableTexts(frame, ["message"], true);
  if (unstorable.length > 0) return bad("invalid_message", describeFaults(unstorable));
  const checked = parseIncomingMessage(validator, frame, ["message"]);
  if (!checked.ok) {
    return bad("invalid_message", describeFaults(checked.errors));
  }
  const { role, content, sender, client_message_id: clientMessageId } = checked.value;
  const { response_schema: responseSchema } = checked.value;
  const fault = responseSchema ? answerSchemaFault(responseSchema) : null;
  if (fault !== null) return bad("invalid_message", `message.response_schema: ${fault}`);
  if (role !== "user") return bad("invalid_message", "message.role: Only user messages can be sent.");
  return {
    type: "message",
    message: { role, content: content ?? [], thinking_blocks: [] },
    sender: sender ?? undefined,
    clientMessageId,
    responseSchema: responseSchema ?? undefined,
    whileRunning: checked.value.while_running ?? null,
    // A message on a socket always requests a run.
    unused: [...namesOfUnused(unused), ...(frame["run"] === false ? ["run"] : [])],
  };
}

/** What client tools returned. */
function readResults(frame: JsonObject, validator: Validator): SocketInput {
  const { type: _, ...given } = frame;
  const unstorable = unstorableTexts(given, ["frame"], true);
  if (unstorable.length > 0) return bad("invalid_tool_results", describeFaults(unstorable));
  const checked = validator.check<SendToolResultsRequest>(SendToolResultsRequest, given, ["frame"]);
  if (!checked.ok) return bad("invalid_tool_results", describeFaults(checked.errors));
  try {
    return { type: "tool_results", results: readToolResults(checked.value, ["frame"]) };
  } catch (error) {
    if (error instanceof Fault) return bad("invalid_tool_results", error.message);
    throw error;
  }
}

/** An error for one socket; it is never stored. */
export function serverErrorFrame(code: string, detail: string): string {
  const nowMs = Date.now();
  return JSON.stringify({
    id: nextUuid7(null, nowMs),
    timestamp: formatInstant(nowMs * 1000),
    source: "environment",
    code,
    detail,
    kind: "ServerErrorEvent",
  });
}

function bad(code: string, detail: string): SocketInput {
  return { type: "error", code, detail };
}
