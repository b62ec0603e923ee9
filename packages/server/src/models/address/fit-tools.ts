import { createHash } from "node:crypto";
import type { ModelTool } from "../model.ts";
import type { AddressRules } from "./address-rules.ts";
import { fitName } from "./fit-names.ts";
import { fitSchema } from "./fit-schema.ts";

/** A digest of a tool's name, description and schema. When its server changes them, lessons about the tool no longer apply. */
export function toolDigest(tool: ModelTool): string {
  const definition = JSON.stringify([tool.name, tool.description, tool.parameters]);
  return createHash("sha256").update(definition).digest("hex").slice(0, 24);
}

/** The tools as an address takes them, each name once. A schema that it refuses stands in the description. */
export function fitTools(tools: readonly ModelTool[], rules: AddressRules): ModelTool[] {
  const omitted = new Set(rules.omittedKeywords);
  const names = new Set<string>();
  const hasDigests = rules.omittedTools.length + rules.plainTools.length > 0;
  const fitted: ModelTool[] = [];
  for (const tool of tools) {
    const name = fitName(tool.name);
    const digest = hasDigests ? toolDigest(tool) : "";
    if (names.has(name) || rules.omittedTools.includes(digest)) continue;
    if (fitted.length >= rules.maxTools) break;
    names.add(name);
    const isPlain = rules.plainTools.includes(digest);
    const description = isPlain ? withParameters(tool) : tool.description;
    fitted.push({
      name,
      description: description.slice(0, rules.maxDescription),
      parameters: isPlain ? { type: "object", properties: {} } : fitSchema(tool.parameters, omitted),
    });
  }
  return fitted;
}

const longestSchema = 8000;

function withParameters({ description, parameters }: ModelTool): string {
  const schema = JSON.stringify(parameters).slice(0, longestSchema);
  return `${description}\n\nIts arguments follow this JSON Schema: ${schema}`.trimStart();
}
