import { toParameters } from "@convoke/protocol";
import type { ToolListing } from "@convoke/tool-host";
import { normalizeSchema } from "../extensions/mcp/tool-schema.ts";
import { flattenSchema, isFlat } from "../lib/flatten-schema.ts";
import type { JsonObject } from "../lib/json-object.ts";

export type ToolParameters = {
  /** An object schema with every argument among its properties. */
  readonly schema: JsonObject & { readonly properties: JsonObject };
  /** What such a schema cannot say of them. */
  readonly rules: readonly string[];
};

/** What the model gives to a tool: by the tool's own schema, or that of its action kind. Throws on a kind that is not ours. */
export function parametersOf({ parameters, actionKind }: ToolListing): ToolParameters {
  const schema = parameters ?? toParameters(actionKind);
  const known = flat.get(schema);
  if (known !== undefined) return known;
  // Those of servers are normal already; a client's one is as the client wrote it.
  const { properties, required, rules } = flattenSchema(isFlat(schema) ? schema : normalizeSchema(schema));
  const needed = required.length === 0 ? {} : { required };
  const made = { schema: { type: "object", properties, ...needed }, rules };
  flat.set(schema, made);
  return made;
}

const flat = new WeakMap<JsonObject, ToolParameters>();
