import type { MCPToolDefinition } from "@convoke/protocol";
import { clipText, shortNotice, type ToolListing } from "@convoke/tool-host";
import type { AnnouncedTool } from "./list-tools.ts";
import { normalizeSchema, type SchemaBudget } from "./tool-schema.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";
import { isObject, type JsonObject } from "../../lib/json-object.ts";

const longestDescription = 8_000;
const longestIconsChars = 16_000;

/** A tool of a server as sessions list it, under the name the model calls. */
export function listMcpTool(
  name: string,
  tool: AnnouncedTool,
  budget?: SchemaBudget,
): ToolListing & Pick<Required<ToolListing>, "parameters"> {
  return {
    name,
    actionKind: "MCPToolAction",
    // The server's hint is shown, but a stranger's word does not lift a confirmation.
    isReadOnly: false,
    definition: define(name, tool),
    parameters: normalizeSchema(tool["inputSchema"], budget),
  };
}

function define(name: string, tool: AnnouncedTool): MCPToolDefinition {
  const hints = objectOf(tool["annotations"]);
  const title = textOf(hints?.["title"]) ?? textOf(tool["title"]);
  const description = clipText(
    textOf(tool["description"]) ?? "Its server says nothing about this tool.",
    longestDescription,
    shortNotice,
  );
  const output = objectOf(tool["outputSchema"]);
  const icons = iconsOf(tool["icons"]);
  const meta = objectOf(tool["_meta"]);
  return {
    kind: "MCPToolDefinition",
    title: title ?? name,
    description,
    action_type: "MCPToolAction",
    observation_type: "MCPToolObservation",
    annotations: {
      title: title ?? null,
      readOnlyHint: hints?.["readOnlyHint"] === true,
      destructiveHint: hints?.["destructiveHint"] !== false,
      idempotentHint: hints?.["idempotentHint"] === true,
      openWorldHint: hints?.["openWorldHint"] !== false,
    },
    meta: meta ?? null,
    mcp_tool: withoutUndefined({
      name,
      title: title ?? undefined,
      description,
      inputSchema: objectOf(tool["inputSchema"]) ?? { type: "object" },
      outputSchema: output ?? undefined,
      icons: icons ?? undefined,
      annotations: hints === null ? undefined : hintsOf(hints),
      _meta: meta ?? undefined,
    }),
  };
}

function hintsOf(hints: JsonObject): NonNullable<MCPToolDefinition["mcp_tool"]["annotations"]> {
  const names = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
  const given = names.filter((hint) => typeof hints[hint] === "boolean").map((hint) => [hint, hints[hint]]);
  const title = textOf(hints["title"]);
  return { ...Object.fromEntries(given), ...withoutUndefined({ title: title ?? undefined }) };
}

function iconsOf(value: unknown): { src: string; mimeType?: string }[] | null {
  if (!Array.isArray(value)) return null;
  const icons = value.flatMap((icon: unknown) => {
    const src = textOf(objectOf(icon)?.["src"]);
    const mimeType = textOf(objectOf(icon)?.["mimeType"]);
    return src === null ? [] : [withoutUndefined({ src, mimeType: mimeType ?? undefined })];
  });
  return icons.length === 0 || JSON.stringify(icons).length > longestIconsChars ? null : icons;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

function objectOf(value: unknown): JsonObject | null {
  return isObject(value) ? value : null;
}
