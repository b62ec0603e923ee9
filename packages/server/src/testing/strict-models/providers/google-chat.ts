import { createChatWire } from "../../scripted-model/openai-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { onlyBodyFields } from "../checks/fields.ts";
import { pairingByCount } from "../checks/pairing.ts";
import { calledNames } from "../checks/tools.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readChat } from "../readings/read-chat.ts";
import type { StrictProvider } from "../strict-provider.ts";
import {
  badGoogleName,
  extraSignature,
  googleBody,
  googleName,
  googleOverflow,
  signedCalls,
  withSeal,
} from "./google-rules.ts";
import { googleTools, leftOutByGoogle } from "./google-schemas.ts";

/** Gemini behind chat completions: the signature of a call is in a field of Google's own. */
export const googleChat: StrictProvider = {
  name: "google-chat",
  wire: createChatWire({
    toCallExtras: ({ turn }, index) =>
      index === 0 ? { extra_content: { google: { thought_signature: turn.signature } } } : {},
  }),
  llm: { model: "openai/gemini-3-pro-preview" },
  path: "/v1beta/openai",
  models: ["gemini-3-pro-preview", "gemini-3-flash-preview"],
  read: readChat,
  checks: [
    wellFormedBody((at) => ({
      message: `Invalid JSON payload received. Unexpected token.\nInvalid Unicode at character ${at}.`,
    })),
    onlyBodyFields(
      [
        "model messages tools tool_choice stream stream_options temperature top_p n stop max_tokens",
        "max_completion_tokens reasoning_effort response_format extra_body seed user parallel_tool_calls",
        "frequency_penalty presence_penalty",
      ].flatMap((line) => line.split(" ")),
      (field) => ({ message: `Invalid JSON payload received. Unknown name "${field}": Cannot find field.` }),
    ),
    calledNames(googleName, ({ at }, { part }) => ({
      message:
        "The GenerateContentRequest proto is invalid:\n" +
        `  * contents[${at}].parts[${part}].function_call.name: [FIELD_INVALID] ${badGoogleName}`,
    })),
    argumentsAreObjects(() => ({ message: "Request contains an invalid argument." })),
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
    signedCalls(extraSignature),
    ...googleTools(leftOutByGoogle),
  ],
  // A list of one. Source: openai/openai-python#2758, Gitlawb/openclaude#67.
  toBody: (complaint, status) => [googleBody(complaint, status)],
  toCallId: (seed) => `function-call-${BigInt(`0x${seed.slice(0, 15)}`)}`,
  adorn: withSeal,
  window: 1_048_576,
  overflow: googleOverflow,
};
