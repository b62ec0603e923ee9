import { toParameters, type Agent } from "@convoke/protocol";
import { compileForeignSchema, type ValidationError } from "@convoke/protocol/validate";
import { defaultTools, facesOf, type ToolListing } from "@convoke/tool-host";
import { normalizeSchema } from "../extensions/mcp/tool-schema.ts";
import { isObject, listOf, type JsonObject } from "../lib/json-object.ts";
import { ownTools } from "./tool-specs.ts";
import { madeOnce } from "../lib/made-once.ts";

const key = "response_schema";

/** What a schema may have beside its properties. */
const keywords: ReadonlySet<string> = new Set([
  "$anchor",
  "$comment",
  "$defs",
  "$dynamicAnchor",
  "$id",
  "$schema",
  "$vocabulary",
  "additionalProperties",
  "default",
  "deprecated",
  "description",
  "examples",
  "properties",
  "readOnly",
  "required",
  "title",
  "type",
  "writeOnly",
]);
const reserved: ReadonlySet<string> = new Set(["kind", "security_risk", "structured_output", "summary"]);

/** What is wrong with the fields that an agent wants with the calls of a tool, by the tool's place in its list. */
export function responseSchemaFaults(
  agent: Pick<Agent, "tools">,
): { readonly index: number; readonly reason: string }[] {
  return (agent.tools ?? []).flatMap(({ name, params }, index) => {
    const schema = params?.[key];
    if (schema === undefined || schema === null) return [];
    const [tool] = ownTools({ tools: [{ name }] });
    const reason = fieldsFault(schema, tool === undefined ? null : kindOf(tool.name));
    return reason === null ? [] : [{ index, reason }];
  });
}

/** Why a schema's properties cannot be fields of a tool beside its own; null if they can. */
export function fieldsFault(schema: unknown, actionKind: string | null): string | null {
  if (actionKind === null) return "Only one of the server's own tools can have it, and no set of tools.";
  if (!isObject(schema) || schema["type"] !== "object" || !isObject(schema["properties"]))
    return "Send a JSON Schema of the type object with named properties.";
  const names = Object.keys(schema["properties"]);
  if (names.length === 0) return "Send a JSON Schema of the type object with named properties.";
  const unknown = Object.keys(schema).filter((keyword) => !keywords.has(keyword));
  if (unknown.length > 0) return `It cannot have ${unknown.join(", ")} beside its properties.`;
  if (schema["additionalProperties"] !== undefined && schema["additionalProperties"] !== false)
    return "Its fields must have names: additionalProperties is false or left out.";
  const unnamed = listOf(schema["required"]).filter((name) => !names.includes(String(name)));
  if (unnamed.length > 0) return `Required fields must be among its properties: ${unnamed.join(", ")}.`;
  const own = Object.keys(toParameters(actionKind)["properties"] as object);
  const taken = names.filter((name) => reserved.has(name) || own.includes(name));
  return taken.length === 0 ? null : `These names are taken by the tool itself: ${taken.join(", ")}.`;
}

/** Null for sets, and for tools that are not ours. */
function kindOf(name: string): string | null {
  const found = defaultTools().find((tool) => tool.name === name);
  return found === undefined || "faces" in found ? null : facesOf(found)[0]!.actionKind;
}

/** Adds to tools the fields that the agent wants with their calls; null where it wants none. */
export function withResponseFields(
  agent: Agent,
): ((tools: readonly ToolListing[]) => readonly ToolListing[]) | null {
  const schemas = new Map(
    ownTools(agent).flatMap(({ name, params }) =>
      isObject(params[key]) ? [[name, normalizeSchema(params[key])] as const] : [],
    ),
  );
  if (schemas.size === 0) return null;
  return (tools) =>
    tools.map((listing): ToolListing => {
      const response = schemas.get(listing.name);
      return response === undefined ? listing : { ...listing, response };
    });
}

/** A call's arguments without those of a response, and what is wrong with these. The log has them in the call as it came. */
export function splitResponse(
  values: JsonObject,
  { response }: ToolListing,
): { readonly own: JsonObject; readonly answer: JsonObject | null; readonly problems: readonly string[] } {
  if (response === undefined) return { own: values, answer: null, problems: [] };
  const names = new Set(Object.keys(response["properties"] as object));
  const part = (isOfResponse: boolean): JsonObject =>
    Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name) === isOfResponse));
  const answer = part(true);
  return { own: part(false), answer, problems: checkOf(response)(answer).map(describeProblem) };
}

/** One error of a schema's check as a model reads it. */
export function describeProblem({ loc, msg }: ValidationError): string {
  return `${loc.join(".") || "arguments"}: ${msg}`;
}

const checkOf = madeOnce((schema: JsonObject) => compileForeignSchema(schema));
