import type { ConvokeClient } from "@convoke/client";
import type { LocalModelServer } from "@convoke/protocol";
import { read } from "@convoke/server/setting";
import { settings } from "@convoke/server/settings";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";

/** The flags that name a model. */
export type ModelOptions = { readonly model?: string; readonly baseUrl?: string };

/** Part of `agent.llm`; empty: the server takes the model of its settings. */
export type ChosenModel = {
  readonly model?: string;
  readonly api_key?: string;
  readonly base_url?: string;
};

type Server = Pick<ConvokeClient, "call">;

/**
 * The model of the flags, else of LLM_MODEL, LLM_API_KEY and LLM_BASE_URL, else the one that is stored on the server. Throws
 * {@link CommandError} without any; it names a model that answers on the server's machine.
 */
export async function chooseModel(
  client: Server,
  options: ModelOptions,
  environment = configuredEnvironment(),
): Promise<ChosenModel> {
  const model = options.model ?? read(environment, settings.llm_model);
  if (model) {
    const apiKey = read(environment, settings.llm_api_key);
    const baseUrl = options.baseUrl ?? read(environment, settings.llm_base_url);
    return { model, ...(apiKey ? { api_key: apiKey } : {}), ...(baseUrl ? { base_url: baseUrl } : {}) };
  }
  if (await hasStoredModel(client)) return {};
  const { servers } = await client.call("GET /api/llm/local-servers");
  throw new CommandError(`No model is set. ${adviceFor(servers)}`, exitCodes.usage);
}

async function hasStoredModel(client: Server): Promise<boolean> {
  const [{ active_profile: active }, { llm_api_key_is_set: hasKey }] = await Promise.all([
    client.call("GET /api/profiles"),
    client.call("GET /api/settings"),
  ]);
  return Boolean(active) || hasKey;
}

function adviceFor(servers: readonly LocalModelServer[]): string {
  const usual = "LLM_MODEL (e.g. anthropic/claude-sonnet-4-5) and LLM_API_KEY";
  const server = servers.find(({ models }) => models.length > 0);
  if (server === undefined)
    return `Set ${usual}, use --model, or store one on the page (convoke open). Without a key, convoke demo shows an agent at work.`;
  const { name, models, base_url: address } = server;
  const flags = `--model ${models[0]}${address ? ` --base-url ${address}` : ""}`;
  return `${name} answers on this machine: start again with ${flags}, or choose it on the page (convoke open). For another one set ${usual}.`;
}
