import { SecretMask, type ToolSecret } from "@convoke/tool-host";
import type { AnnouncedTool } from "./list-tools.ts";
import { mapTexts } from "../../lib/map-texts.ts";

/** Masks secrets in a server's description of a tool, for the model, the log and clients. The name stays unchanged. */
export function hideInTool(tool: AnnouncedTool, secrets: readonly ToolSecret[]): AnnouncedTool {
  const mask = new SecretMask(secrets);
  return { ...(mapTexts(tool, (text) => mask.push(text) + mask.flush()) as AnnouncedTool), name: tool.name };
}
