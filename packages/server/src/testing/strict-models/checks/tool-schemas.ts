import type { Check, Complaint } from "../strict-provider.ts";
import { isValue, type ReadTool, type Value } from "../readings/reading.ts";

/** Where in a schema something is wrong: the steps from its root, and what was found there. */
export type SchemaFault = { readonly path: readonly string[]; readonly found: unknown };

/** One rule about a part of a schema. The root has an empty path. */
export type SchemaRule = (node: Value, path: readonly string[]) => SchemaFault | null;

/** Checks a rule in all parts of the schemas of all tools. */
export function schemas(
  rule: SchemaRule,
  complain: (tool: ReadTool, fault: SchemaFault) => Complaint,
): Check {
  return (_request, { tools }) => {
    for (const tool of tools) {
      const fault = isValue(tool.schema) ? findFault(tool.schema, [], rule) : null;
      if (fault !== null) return complain(tool, fault);
    }
    return null;
  };
}

/** The parts of a schema that are schemas themselves, with the steps to them. */
export function* partsOf(node: Value): Generator<readonly [readonly string[], Value]> {
  for (const keyword of ["properties", "$defs", "definitions", "patternProperties"]) {
    const inner = node[keyword];
    if (!isValue(inner)) continue;
    for (const [name, part] of Object.entries(inner)) if (isValue(part)) yield [[keyword, name], part];
  }
  for (const keyword of ["items", "prefixItems", "anyOf", "oneOf", "allOf"]) {
    const inner = node[keyword];
    if (isValue(inner)) yield [[keyword], inner];
    else if (Array.isArray(inner)) {
      for (const [at, part] of inner.entries()) if (isValue(part)) yield [[keyword, `${at}`], part];
    }
  }
  for (const keyword of ["additionalProperties", "not", "if", "then", "else"]) {
    const inner = node[keyword];
    if (isValue(inner)) yield [[keyword], inner];
  }
}

function findFault(node: Value, path: readonly string[], rule: SchemaRule): SchemaFault | null {
  const own = rule(node, path);
  if (own !== null) return own;
  for (const [steps, part] of partsOf(node)) {
    const fault = findFault(part, [...path, ...steps], rule);
    if (fault !== null) return fault;
  }
  return null;
}
