import type { ToolListing } from "@convoke/tool-host";
import type { ModelTool } from "../models/model.ts";
import { isFlat } from "../lib/flatten-schema.ts";
import { addedFieldsOf } from "./added-fields.ts";
import { isClientTool } from "./client-action.ts";
import { parametersOf } from "./tool-parameters.ts";

const riskProperty = {
  type: "string",
  enum: ["UNKNOWN", "LOW", "MEDIUM", "HIGH"],
  description:
    "How much harm this call could do: LOW reads or changes only the task's own files, MEDIUM changes the environment " +
    "(installs, network writes), HIGH cannot be undone or exposes data. UNKNOWN when you cannot tell.",
};

const summaryProperty = {
  type: "string",
  description: "What this call does, in about ten words, for a person who watches.",
};

/**
 * A tool as the model sees it: the risk and summary fields come first, so that cut-off output still has them. The risk is asked
 * for only where somebody reads the answer (L23.37).
 */
export function toModelTool(listing: ToolListing, asksForRisk: boolean): ModelTool {
  const { schema, rules } = parametersOf(listing);
  const added = addedFieldsOf(schema);
  const properties = {
    ...(added.risk === null || listing.isReadOnly || !asksForRisk ? {} : { [added.risk]: riskProperty }),
    ...(added.summary === null ? {} : { [added.summary]: summaryProperty }),
    ...schema.properties,
  };
  const { description } = listing.definition;
  // A client's schema is read as it is where a list of properties is all that it says; then there are no rules to tell.
  const verbatim = isClientTool(listing) && isFlat(listing.parameters ?? {}) ? listing.parameters : undefined;
  return {
    name: listing.name,
    description:
      verbatim !== undefined || rules.length === 0 ? description : [description, ...rules].join("\n").trim(),
    parameters: { ...schema, ...verbatim, type: "object", properties },
  };
}
