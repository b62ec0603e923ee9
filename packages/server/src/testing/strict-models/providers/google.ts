import { googleWire } from "../../scripted-model/google-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { pairingByCount } from "../checks/pairing.ts";
import { noSequence, needsUser } from "../checks/roles.ts";
import { calledNames } from "../checks/tools.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readGoogle } from "../readings/read-google.ts";
import { listOf } from "../readings/reading.ts";
import type { Check, StrictProvider } from "../strict-provider.ts";
import {
  badGoogleName,
  googleBody,
  googleName,
  googleOverflow,
  signedCalls,
  withSeal,
} from "./google-rules.ts";
import { googleTools } from "./google-schemas.ts";

/** Every content has parts, and every part holds something. Source: google-gemini/generative-ai-js, reports of both. */
const filledParts: Check = (_request, { messages }) => {
  for (const { at, raw } of messages) {
    const parts = listOf(raw["parts"]);
    if (parts.length === 0) {
      return {
        message: `* GenerateContentRequest.contents[${at}].parts: contents.parts must not be empty.\n`,
      };
    }
    const bare = parts.findIndex((part) => Object.keys(part).every((name) => name === "thought"));
    if (bare !== -1) {
      return {
        message:
          `* GenerateContentRequest.contents[${at}].parts[${bare}].data: ` +
          "required oneof field 'data' must have one initialized field\n",
      };
    }
  }
  return null;
};

/** Every result names the function that it comes from. */
const namedResults: Check = (_request, { messages }) => {
  for (const { at, results } of messages) {
    const bare = results.find(({ name }) => (name ?? "") === "");
    if (bare !== undefined) {
      return {
        message:
          `* GenerateContentRequest.contents[${at}].parts[${bare.part}].function_response.name: ` +
          "Name cannot be empty.\n",
      };
    }
  }
  return null;
};

/** Gemini's own API. */
export const google: StrictProvider = {
  name: "google",
  wire: googleWire,
  llm: { model: "gemini/gemini-3-pro-preview" },
  path: "/v1beta",
  models: ["gemini-3-pro-preview", "gemini-3-flash-preview"],
  read: readGoogle,
  checks: [
    wellFormedBody((at) => ({
      message: `Invalid JSON payload received. Unexpected token.\nInvalid Unicode at character ${at}.`,
    })),
    needsUser({ message: "* GenerateContentRequest.contents: contents is not specified\n" }),
    filledParts,
    calledNames(googleName, ({ at }, { part }) => ({
      message:
        "The GenerateContentRequest proto is invalid:\n" +
        `  * contents[${at}].parts[${part}].function_call.name: [FIELD_INVALID] ${badGoogleName}`,
    })),
    argumentsAreObjects(({ at }, { part }) => ({
      message:
        `Invalid value at 'contents[${at}].parts[${part}].function_call.args' ` +
        "(type.googleapis.com/google.protobuf.Struct)",
    })),
    namedResults,
    // Source: both sentences in reports to google-gemini/gemini-cli and langchain-ai/langchain-google.
    pairingByCount({
      unequal: () => ({
        message:
          "Please ensure that the number of function response parts is equal to the number of function call parts " +
          "of the function call turn.",
      }),
      orphan: () => ({
        message: "Please ensure that function response turn comes immediately after a function call turn.",
      }),
    }),
    noSequence(
      (before, message) => message.calls.length > 0 && before.role === "assistant",
      () => ({
        message:
          "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      }),
    ),
    signedCalls(({ raw }) => raw["thoughtSignature"]),
    ...googleTools(),
  ],
  toBody: googleBody,
  toCallId: (seed) => seed.slice(0, 8),
  adorn: withSeal,
  window: 1_048_576,
  overflow: googleOverflow,
};
