import { clientActionPrefix, type Action } from "@convoke/protocol";
import { compileForeignSchema, type CheckForeign } from "@convoke/protocol/validate";
import type { ToolListing } from "@convoke/tool-host";
import { isFlat } from "../lib/flatten-schema.ts";
import { takesNull } from "../lib/takes-null.ts";
import { parametersOf } from "./tool-parameters.ts";
import { madeOnce } from "../lib/made-once.ts";

type JsonObject = Readonly<Record<string, unknown>>;
type Checked = ReturnType<CheckForeign>;

/** Whether a tool is carried out by the client, whose own JSON Schema says what it takes. */
export function isClientTool({ actionKind }: ToolListing): boolean {
  return actionKind.startsWith(clientActionPrefix);
}

/** What the model wrote as an action of a client's tool. Null means "not given" where the schema does not take it. */
export function readClientAction(
  tool: ToolListing,
  given: JsonObject,
): { readonly ok: true; readonly value: Action } | { readonly ok: false; readonly errors: Checked } {
  const schema = tool.parameters ?? {};
  const { properties } = parametersOf(tool).schema;
  const values = Object.fromEntries(
    Object.entries(given).filter(([key, value]) => value !== null || takesNull(properties[key])),
  );
  const errors = checkOf(schema)(values);
  if (errors.length > 0) return { ok: false, errors };
  // An argument called kind is in the call itself, which the event has too.
  return { ok: true, value: { ...values, kind: tool.actionKind } as unknown as Action };
}

const checkOf = madeOnce((schema: JsonObject) => {
  const isPlain = isFlat(schema) && !("patternProperties" in schema) && !("additionalProperties" in schema);
  return compileForeignSchema(isPlain ? { ...schema, additionalProperties: false } : schema);
});
