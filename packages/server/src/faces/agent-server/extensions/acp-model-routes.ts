import type { Validator } from "@convoke/protocol/validate";
import { ACPAgentInput, type ACPModelDiscovery, type catalogRoutes } from "@convoke/protocol";
import { commandOf, knownAcpServers, toStoredAgent } from "../../../agent/acp-options.ts";
import { AcpAgent } from "../../../extensions/acp/acp-agent.ts";
import { AcpFailure } from "../../../extensions/acp/acp-failure.ts";
import type { Handlers } from "../../../http/mount.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { isObject, type JsonObject } from "../../../lib/json-object.ts";
import { acpAgentOf } from "../../../settings/acp-settings.ts";
import { defaultSettings } from "../../../settings/stored-settings.ts";
import type { PlaceInPassing } from "../../../tools/conversation-host.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { version } from "../../../lib/version.ts";

/** No question for models takes longer, whatever the agent's own time to start. */
const longestMs = 120_000;

/** Starts another agent where a conversation would have it, asks for its models, and ends it. */
export function acpModelHandlers({ hosts, sealedValues, validator }: FaceDeps) {
  return {
    listAcpModels: async ({ body, caller, signal }) => {
      const opened = sealedValues.openIn(caller.userId, body, ["body"]);
      const agent = readSettings(opened.agent_settings, validator);
      const environment = secretsOf(opened.secrets ?? {});
      const until = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
      const json = await hosts.inPassing(caller.userId, async (place) => {
        await using started = startAgent(agent, place, environment);
        return await discover(started, until);
      });
      return { json };
    },
  } satisfies Partial<Handlers<typeof catalogRoutes>>;
}

async function discover(agent: AcpAgent, signal: AbortSignal): Promise<ACPModelDiscovery> {
  try {
    const { agentName, agentVersion, models } = await agent.openSession(null, signal);
    return {
      agent_name: agentName,
      agent_version: agentVersion,
      current_model_id: models.current,
      available_models: [...models.available],
      supports_runtime_model_switch: models.by !== null,
      error: null,
    };
  } catch (error) {
    const isLate = signal.aborted && signal.reason instanceof Error && signal.reason.name === "TimeoutError";
    if (!(error instanceof AcpFailure) && !isLate) throw error;
    const detail = isLate
      ? `The agent "${agent.command}" did not answer within ${longestMs / 1000} s.`
      : (error as Error).message;
    return {
      agent_name: null,
      agent_version: null,
      current_model_id: null,
      available_models: [],
      supports_runtime_model_switch: false,
      error: { code: error instanceof AcpFailure ? error.code : "ACPInitError", detail },
    };
  }
}

type Agent = ReturnType<typeof toStoredAgent>;

function startAgent(
  { acp }: Agent,
  { folder, toolHost }: PlaceInPassing,
  environment: Record<string, string>,
): AcpAgent {
  // The models are asked for, so that none is chosen.
  const { acp_model: _, acp_session_mode: __, ...options } = acp;
  return new AcpAgent({
    command: commandOf(acp),
    options: () => options,
    toolHost,
    workspaceDir: folder,
    files: null,
    environment: async () => environment,
    servers: async () => [],
    clientVersion: version,
  });
}

function readSettings(given: JsonObject, validator: Validator): Agent {
  const loc = ["body", "agent_settings"];
  const described = acpAgentOf({ ...defaultSettings, agentExtras: given });
  const checked = validator.check<ACPAgentInput>(ACPAgentInput, described, loc);
  if (!checked.ok)
    throw new Fault("caller", "validation", "The settings of the agent are not valid.", checked.errors);
  const agent = toStoredAgent(checked.value);
  if (commandOf(agent.acp).length === 0) {
    const msg = `Name the program and its arguments, or one of these in acp_server: ${knownAcpServers.join(", ")}.`;
    throw invalidField([...loc, "acp_command"], msg);
  }
  return agent;
}

/** Values that the request brings; no URL is asked for one. */
function secretsOf(secrets: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(secrets).map(([name, source]) => {
      const value = isObject(source) ? source["value"] : source;
      if (typeof value === "string") return [name, value];
      throw invalidField(
        ["body", "secrets", name],
        "Send the value of the secret: only StaticSecret can be used here.",
      );
    }),
  );
}
