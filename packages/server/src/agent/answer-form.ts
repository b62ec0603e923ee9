import type { Agent } from "@convoke/protocol";
import { compileForeignSchema } from "@convoke/protocol/validate";
import type { ToolListing } from "@convoke/tool-host";
import { normalizeSchema } from "../extensions/mcp/tool-schema.ts";
import { isObject, type JsonObject } from "../lib/json-object.ts";
import { madeOnce } from "../lib/made-once.ts";
import { describeProblem, fieldsFault } from "./response-schema.ts";
import { ownTools } from "./tool-specs.ts";

/** The form of an agent's answers, by a JSON Schema from outside. */
export type AnswerForm = {
  readonly schema: JsonObject;
  /** What `finish` takes beside its own parameters: an object schema. */
  readonly fields: JsonObject;
  /** Whether the answer is one field of these, because its own names cannot be fields of `finish`. */
  readonly isNested: boolean;
  /** What is wrong with an answer; nothing for a valid one. */
  readonly faultsOf: (answer: unknown) => readonly string[];
};

/** The field of `finish` with an answer whose own names cannot be its fields. */
const nestedField = "response";

/** The form by a schema without an `answerSchemaFault`. */
export const answerFormOf = madeOnce((schema: JsonObject): AnswerForm => {
  const normal = normalizeSchema(schema);
  const isNested = fieldsFault(schema, "FinishAction") !== null;
  const check = compileForeignSchema(schema);
  return {
    schema,
    fields: isNested
      ? { type: "object", properties: { [nestedField]: normal }, required: [nestedField] }
      : normal,
    isNested,
    faultsOf: (answer) =>
      isObject(answer) ? check(answer).map(describeProblem) : ["The answer is no JSON object."],
  };
});

/** The answer in the fields that a call of `finish` gave. */
export function answerIn(fields: JsonObject, { isNested }: AnswerForm): unknown {
  return isNested ? fields[nestedField] : fields;
}

/** The schema that an agent wants `finish` to be called with; null for none. */
export function finishSchema(agent: Pick<Agent, "tools" | "filter_tools_regex">): JsonObject | null {
  const schema = ownTools(agent).find(({ name }) => name === "finish")?.params["response_schema"];
  return isObject(schema) ? schema : null;
}

/** The tool that ends a run; null if the agent has none. */
export function endingTool(tools: readonly ToolListing[]): ToolListing | null {
  return tools.find(({ traits }) => traits?.endsTurn === true) ?? null;
}

/** The tools with the form's fields in the one that ends a run. */
export function withAnswerFields(tools: readonly ToolListing[], { fields }: AnswerForm): ToolListing[] {
  return tools.map((listing) =>
    listing.traits?.endsTurn === true ? { ...listing, response: fields } : listing,
  );
}
