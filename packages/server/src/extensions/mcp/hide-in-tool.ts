import { SecretMask, type ToolSecret } from "@convoke/tool-host";
import type { AnnouncedTool } from "./list-tools.ts";

/** A tool without secrets in what its server says of it, before the model, the log or a client is told; its name is its name. */
export function hideInTool(tool: AnnouncedTool, secrets: readonly ToolSecret[]): AnnouncedTool {
  const mask = new SecretMask(secrets);
  const hide = (value: unknown): unknown => {
    if (typeof value === "string") return mask.push(value) + mask.flush();
    if (Array.isArray(value)) return value.map(hide);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, hide(field)]));
  };
  const { name, ...shown } = tool;
  return { ...(hide(shown) as typeof shown), name };
}
