import { bedrockWire } from "../../scripted-model/bedrock-wire.ts";
import { argumentsAreObjects } from "../checks/call-arguments.ts";
import { callIds } from "../checks/call-ids.ts";
import { noBlankTexts } from "../checks/contents.ts";
import { pairing } from "../checks/pairing.ts";
import { knownRoles, noSequence, startsWithUser } from "../checks/roles.ts";
import { plainRoot, rootIsObject } from "../checks/schema-rules.ts";
import { schemas } from "../checks/tool-schemas.ts";
import { calledNames, toolNames, uniqueToolNames } from "../checks/tools.ts";
import { wellFormedBody } from "../checks/well-formed.ts";
import { readBedrock } from "../readings/read-bedrock.ts";
import { isValue, listOf } from "../readings/reading.ts";
import type { Check, Complaint, StrictProvider } from "../strict-provider.ts";
import { lettersOf } from "./chat-rules.ts";

const name = /^[a-zA-Z0-9_-]{1,64}$/u;

/** Sources: openclaw/openclaw#12892, aws-samples/remote-swe-agents#457, BerriAI/litellm#24668. */
function unsatisfied(place: string, value: string): Complaint {
  const what =
    value === ""
      ? "Member must have length greater than or equal to 1"
      : value.length > 64
        ? "Member must have length less than or equal to 64"
        : "Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+";
  return {
    message: `1 validation error detected: Value '${value}' at '${place}' failed to satisfy constraint: ${what}`,
  };
}

/** Calls in the history need a list of tools. Source: BerriAI/litellm and langchain-aws, reports of this sentence. */
const toolsWithCalls: Check = ({ body }, { messages }) => {
  const hasCalls = messages.some(({ calls, results }) => calls.length > 0 || results.length > 0);
  return hasCalls && !isValue(body["toolConfig"])
    ? { message: "The toolConfig field must be defined when using toolUse and toolResult content blocks." }
    : null;
};

const noEmptyContent: Check = (_request, { messages }) => {
  const empty = messages.find(({ raw }) => listOf(raw["content"]).length === 0);
  return empty === undefined
    ? null
    : {
        message: `The content field in the Message object at messages.${empty.at} is empty. Add a ContentBlock object to the content field and try again.`,
      };
};

/** Amazon Bedrock, converse. */
export const bedrock: StrictProvider = {
  name: "bedrock",
  wire: bedrockWire,
  llm: { model: "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0" },
  path: "",
  models: ["anthropic.claude-sonnet-4-5-20250929-v1:0"],
  read: readBedrock,
  checks: [
    wellFormedBody(() => ({ message: "Unable to parse the request body as JSON: invalid surrogate pair" })),
    knownRoles(["user", "assistant"], ({ at, role }) => ({
      message: `1 validation error detected: Value '${role}' at 'messages.${at + 1}.member.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]`,
    })),
    startsWithUser(() => ({
      message:
        "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    })),
    noSequence(
      (before, message) => before.role === message.role,
      () => ({
        message:
          "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
      }),
    ),
    noEmptyContent,
    // Source: boto/botocore#3525, OpenHands/OpenHands#5339; inside of results it is taken (NousResearch/hermes-agent#55092).
    noBlankTexts(({ at }, { part }) => ({
      message:
        `The text field in the ContentBlock object at messages.${at}.content.${part} is blank. ` +
        "Add text to the text field, and try again.",
    })),
    callIds(
      (id) => name.test(id),
      ({ kind, message, part, id }) =>
        unsatisfied(
          `messages.${message.at + 1}.member.content.${part + 1}.member.${kind === "call" ? "toolUse" : "toolResult"}.toolUseId`,
          id,
        ),
    ),
    // Source: pydantic/pydantic-ai#4631.
    calledNames(name, ({ at }, { part, name: called }) =>
      unsatisfied(`messages.${at + 1}.member.content.${part + 1}.member.toolUse.name`, called),
    ),
    argumentsAreObjects(({ at }, { part }) => ({
      message: `The format of the value at messages.${at}.content.${part}.toolUse.input is invalid. Provide a json object for the field and try again.`,
    })),
    toolsWithCalls,
    pairing({
      missing: ({ at }, ids) => ({
        message: `Expected toolResult blocks at messages.${at + 1}.content for the following Ids: ${ids.join(", ")}`,
      }),
      orphan: ({ at }) => ({
        message: `The number of toolResult blocks at messages.${at}.content exceeds the number of toolUse blocks of previous turn.`,
      }),
      doubled: ({ at }) => ({
        message: `The number of toolResult blocks at messages.${at}.content exceeds the number of toolUse blocks of previous turn.`,
      }),
    }),
    toolNames(name, ({ at, name: tool }) =>
      unsatisfied(`toolConfig.tools.${at + 1}.member.toolSpec.name`, tool),
    ),
    uniqueToolNames(({ name: tool }) => ({
      message: `The toolConfig field contains duplicate tool names: ${tool}. Remove the duplicates and try again.`,
    })),
    (_request, { tools }) => {
      const bare = tools.find(({ description }) => description === "");
      return bare === undefined
        ? null
        : unsatisfied(`toolConfig.tools.${bare.at + 1}.member.toolSpec.description`, "");
    },
    schemas(rootIsObject, ({ at }) => ({
      message: `The value at toolConfig.tools.${at}.toolSpec.inputSchema.json.type must be one of the following: object.`,
    })),
    schemas(
      (node, path) => {
        const fault = plainRoot(node, path);
        return fault !== null && ["oneOf", "anyOf", "allOf"].includes(fault.path[0]!) ? fault : null;
      },
      ({ at }) => ({
        message:
          "The model returned the following errors: " +
          `tools.${at}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
      }),
    ),
  ],
  toBody: ({ message }) => ({ message }),
  toCallId: (seed) => `tooluse_${lettersOf(seed, 22)}`,
  window: 200_000,
  overflow: (tokens, window) => ({
    message: `The model returned the following errors: prompt is too long: ${tokens} tokens > ${window} maximum`,
  }),
};
