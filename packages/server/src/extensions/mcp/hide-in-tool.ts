import { SecretMask, type ToolSecret } from "@convoke/tool-host";
import type { AnnouncedTool } from "./list-tools.ts";

/** Masks secrets in a server's description of a tool, for the model, the log and clients. The name stays unchanged. */
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
