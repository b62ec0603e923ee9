import {
  arraysHaveItems,
  depthUpTo,
  enumsOfTexts,
  itemsAreOneSchema,
  knownTypes,
  oneType,
  onlyFormats,
  onlyKeywords,
  requiredIsDefined,
} from "../checks/schema-rules.ts";
import { schemas, type SchemaRule } from "../checks/tool-schemas.ts";
import { googleName, badGoogleName } from "./google-rules.ts";
import { toolNames, uniqueToolNames } from "../checks/tools.ts";
import { isValue, type ReadTool } from "../readings/reading.ts";
import type { Check } from "../strict-provider.ts";

/** Fields of the message `Schema`. Source: Gemini API reference, caching, Schema. */
const known = [
  "type format title description nullable enum maxItems minItems properties required minProperties maxProperties",
  "minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum",
].flatMap((line) => line.split(" "));

/** An object that has nothing in it is refused below the root. Source: reports of «should be non-empty for OBJECT type». */
const objectsHaveProperties: SchemaRule = (node, path) => {
  const properties = isValue(node["properties"]) ? Object.keys(node["properties"]) : [];
  return String(node["type"]).toLowerCase() === "object" && properties.length === 0 && path.length > 0
    ? { path, found: node }
    : null;
};

/** In the other wires, where Google itself leaves these two out. */
export const leftOutByGoogle: readonly string[] = ["$schema", "additionalProperties"];

/** Declarations as `GenerateContentRequest` wants them; `more` keywords are taken besides its own. */
export function googleTools(more: readonly string[] = []): readonly Check[] {
  const place = ({ at }: ReadTool): string => `tools[0].function_declarations[${at}]`;
  return [
    toolNames(googleName, (tool) => ({
      message: `The GenerateContentRequest proto is invalid:\n  * ${place(tool)}.name: [FIELD_INVALID] ${badGoogleName}`,
    })),
    uniqueToolNames(({ name }) => ({ message: `Duplicate function declaration found: ${name}` })),
    // Source: zed-extensions/mcp-server-brave-search#12 (const), router-for-me/CLIProxyAPI#97 ($schema).
    schemas(onlyKeywords([...known, ...more]), (tool, { path }) => ({
      message:
        `Invalid JSON payload received. Unknown name "${path.at(-1)}" at ` +
        `'${place(tool)}.parameters${toFieldPath(path.slice(0, -1))}': Cannot find field.`,
    })),
    schemas(oneType, (tool, { path }) => ({
      message:
        `Invalid JSON payload received. Unknown name "type" at ` +
        `'${place(tool)}.parameters${toFieldPath(path.slice(0, -1))}': Proto field is not repeating, cannot start list.`,
    })),
    schemas(knownTypes, (tool, { path, found }) => ({
      message:
        `Invalid value at '${place(tool)}.parameters${toFieldPath(path)}' ` +
        `(type.googleapis.com/google.ai.generativelanguage.v1beta.Type), "${String(found)}"`,
    })),
    schemas(itemsAreOneSchema, (tool, { path }) => ({
      message:
        `Invalid JSON payload received. Unknown name "items" at ` +
        `'${place(tool)}.parameters${toFieldPath(path.slice(0, -1))}': Proto field is not repeating, cannot start list.`,
    })),
    // Source: cline/cline#7339.
    schemas(arraysHaveItems, (tool, { path }) => ({
      message: `* GenerateContentRequest.${place(tool)}.parameters${toNamedPath(path)}.items: missing field.\n`,
    })),
    schemas(objectsHaveProperties, (tool, { path }) => ({
      message:
        `* GenerateContentRequest.${place(tool)}.parameters${toNamedPath(path)}.properties: ` +
        "should be non-empty for OBJECT type\n",
    })),
    // Source: iBUHub/AIStudioToAPI#154.
    schemas(requiredIsDefined, (tool, { path }) => ({
      message:
        `* GenerateContentRequest.${place(tool)}.parameters${toNamedPath(path.slice(0, -2))}.required[${path.at(-1)}]: ` +
        "property is not defined\n",
    })),
    // Sources: zereight/gitlab-mcp#223, google-gemini/gemini-cli#10591. The maximum depth is not documented.
    schemas(depthUpTo(12), ({ name }) => ({
      message: `FunctionDeclaration '${name}' in the request exceeds the maximum allowed nesting depth.`,
    })),
    schemas(onlyFormats(["enum", "date-time"]), (tool, { path }) => ({
      message:
        `* GenerateContentRequest.${place(tool)}.parameters${toNamedPath(path.slice(0, -1))}.format: ` +
        "only 'enum' and 'date-time' are supported for STRING type\n",
    })),
    schemas(enumsOfTexts, (tool, { path }) => ({
      message:
        `* GenerateContentRequest.${place(tool)}.parameters${toNamedPath(path.slice(0, -1))}.enum: ` +
        "only allowed for STRING type\n",
    })),
  ];
}

/** `properties`, `a`, `items` is `.properties[0].value.items`; the position is not recorded, so it is always 0. */
function toFieldPath(path: readonly string[]): string {
  return path
    .map((step, at) => (path[at - 1] === "properties" ? "[0].value" : `.${step}`))
    .join("")
    .replace(/\.any(Of)\.(\d+)/giu, ".any_of[$2]");
}

function toNamedPath(path: readonly string[]): string {
  return path.map((step, at) => (path[at - 1] === "properties" ? `[${step}]` : `.${step}`)).join("");
}
