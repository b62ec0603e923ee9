import { toParameters } from "@convoke/protocol";
import type { ToolListing } from "@convoke/tool-host";
import { normalizeSchema } from "../extensions/mcp/tool-schema.ts";
import { flattenSchema, isFlat } from "../lib/flatten-schema.ts";
import type { JsonObject } from "../lib/json-object.ts";
import { madeOnce } from "../lib/made-once.ts";

export type ToolParameters = {
  /** An object schema with every argument among its properties. */
  readonly schema: JsonObject & { readonly properties: JsonObject };
  /** What such a schema cannot say of them. */
  readonly rules: readonly string[];
};

/**
 * What the model gives to a tool: by the tool's own schema, or that of its action kind, and what is wanted besides. Throws on a kind
 * that is not ours.
 */
export const parametersOf = madeOnce((listing: ToolListing): ToolParameters => {
  const own = listing.parameters ?? toParameters(listing.actionKind);
  // Those of servers are normal already; a client's one is as the client wrote it.
  const { properties, required, rules } = flattenSchema(isFlat(own) ? own : normalizeSchema(own));
  const response = flattenSchema(listing.response ?? {});
  const needed = [...required, ...response.required];
  const schema = {
    type: "object",
    properties: { ...properties, ...response.properties },
    ...(needed.length === 0 ? {} : { required: needed }),
  };
  return { schema, rules };
});
