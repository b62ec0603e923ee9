import type { ACPModelInfo } from "@convoke/protocol";
import type { ConvokeClient } from "../convoke-client.ts";
import { asRecord, listAt, recordAt, textAt, type UnknownRecord } from "../view/unknown-record.ts";

/** Models of the agent of a conversation that is not ours. */
export type AcpModels = {
  /** Its id; null where the agent does not say. */
  readonly current: string | null;
  readonly models: readonly ACPModelInfo[];
};

/** Whether another agent works in a conversation, by the Agent Client Protocol. */
export function isOtherAgent(info: UnknownRecord): boolean {
  return recordAt(info, "agent")?.["kind"] === "ACPAgent";
}

/** Settings of the agent that say how it is started. */
const launchFields = ["acp_server", "acp_command", "acp_args", "acp_env", "acp_startup_timeout"] as const;

/**
 * The models of the other agent of a conversation; null where our own works. An agent that has told none yet is started to be asked, and
 * ended again, if `mayStart`. Rejects with the reason where it does not tell.
 */
export async function acpModelsOf(
  client: ConvokeClient,
  id: string,
  mayStart: boolean,
): Promise<AcpModels | null> {
  const info = asRecord(await client.getConversation(id))!;
  if (!isOtherAgent(info)) return null;
  const known = listAt(info, "available_models") as readonly ACPModelInfo[];
  if (known.length > 0 || !mayStart)
    return { current: textAt(info, "current_model_id") || null, models: known };
  const agent = recordAt(info, "agent");
  const settings = Object.fromEntries(
    launchFields.flatMap((name) => (agent?.[name] == null ? [] : [[name, agent[name]]])),
  );
  const found = await client.call("POST /api/acp/models", {
    body: { agent_settings: settings },
    timeoutMs: discoveryTimeoutMs,
  });
  if (found.error != null) throw new Error(found.error.detail);
  return {
    current: textAt(agent, "acp_model") || (found.current_model_id ?? null),
    models: found.available_models ?? [],
  };
}

const discoveryTimeoutMs = 120_000;
