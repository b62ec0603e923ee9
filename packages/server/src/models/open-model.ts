import type { LLM } from "@convoke/protocol";
import { createAnthropicAttempt } from "./anthropic.ts";
import { systemModelClock, type ModelClock } from "./clock.ts";
import type { Model } from "./model.ts";
import { hostOf } from "./model-names.ts";
import { readModelSettings, type ModelSettings } from "./model-settings.ts";
import { createOpenaiChatAttempt } from "./openai-chat.ts";
import type { Send } from "./provider-fetch.ts";
import { createRetryingModel } from "./retry.ts";

export type OpenModelDeps = {
  readonly clock?: ModelClock;
  /** Sends HTTP requests; the global `fetch` unless given. Proxies of the environment are ignored. */
  readonly send?: Send;
};

/** Opens the route an LLM object describes; no I/O happens yet. Throws a Fault that names the field at fault. */
export function openModel(llm: LLM, deps: OpenModelDeps = {}): Model {
  const settings = readModelSettings(llm);
  const clock = deps.clock ?? systemModelClock;
  const wire = { send: deps.send ?? fetch, clock };
  const createAttempt = { "openai-chat": createOpenaiChatAttempt, anthropic: createAnthropicAttempt };
  return createRetryingModel(
    {
      name: settings.name,
      isVisionEnabled: settings.isVisionEnabled,
      attempt: createAttempt[settings.route.wire](settings, wire),
    },
    {
      clock,
      policy: settings.retry,
      idleTimeoutMs: settings.idleTimeoutMs,
      failure: {
        model: settings.name,
        host: hostOf(settings.route.baseUrl),
        secrets: secretsOf(settings),
        nowMs: () => clock.nowMs(),
      },
    },
  );
}

const publicHeaders = new Set(["HTTP-Referer", "X-Title"]);

/** The key, and whatever else was put into headers to get in. */
function secretsOf(settings: ModelSettings): string[] {
  const values = Object.entries(settings.headers).filter(([name]) => !publicHeaders.has(name));
  return [settings.apiKey ?? "", ...values.map(([, value]) => value)];
}
