import { isObject } from "../lib/json-object.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";
import type { JsonObject, StoredSettings } from "./stored-settings.ts";

const fields = [
  "acp_server",
  "acp_args",
  "acp_env",
  "acp_model",
  "acp_session_mode",
  "acp_prompt_timeout",
  "acp_startup_timeout",
  "acp_isolate_data_dir",
  "acp_file_secrets",
] as const;

/** The agent that settings of the kind `acp` describe, in the form of a request. */
export function acpAgentOf({ agentExtras: extras, mcpServers }: StoredSettings): JsonObject {
  const given = fields.filter((field) => (extras[field] ?? null) !== null);
  return {
    kind: "ACPAgent",
    acp_command: toWords(extras["acp_command"]),
    acp_server: "claude-code",
    ...Object.fromEntries(given.map((field) => [field, extras[field]])),
    ...withoutUndefined({
      agent_context: isObject(extras["agent_context"]) ? extras["agent_context"] : undefined,
      mcp_config: Object.keys(mcpServers ?? {}).length > 0 ? { mcpServers } : undefined,
    }),
  };
}

/** The command of an agent is a list in some requests, and one text in others; other values are left for the check. */
export function toWords(command: unknown): unknown {
  if (typeof command !== "string") return command ?? [];
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|[^\s"']+/g)].map(
    ([whole, double, single]) => double ?? single ?? whole,
  );
}
