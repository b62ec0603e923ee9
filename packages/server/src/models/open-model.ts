import type { LLM } from "@convoke/protocol";
import { addressOf } from "./address/address.ts";
import { startingRules } from "./address/address-rules.ts";
import { createMemoryLessons, type LessonStore } from "./address/lesson-store.ts";
import { withAddress } from "./address/with-address.ts";
import { createAiSdkAttempt } from "./ai-sdk/ai-sdk.ts";
import { anthropicWire } from "./anthropic/anthropic.ts";
import type { Attempt } from "./attempt.ts";
import { bedrockWire } from "./ai-sdk/bedrock.ts";
import { systemModelClock, type ModelClock } from "./clock.ts";
import { createLoggedModel } from "./completion-log.ts";
import { createFallbackModel, fallbackNamesOf } from "./fallback-model.ts";
import { imageLimitsOf, withFittedImages } from "./fit-images.ts";
import { googleWire } from "./ai-sdk/google.ts";
import type { Model } from "./model.ts";
import { hostOf } from "./model-names.ts";
import { readModelSettings, type ModelSettings } from "./model-settings.ts";
import { openaiChatWire } from "./openai-chat/openai-chat.ts";
import { openaiResponsesWire } from "./openai-responses/openai-responses.ts";
import { withPromptedCalls, withSpokenHistory } from "./prompted-calls/prompted-calls.ts";
import type { Send } from "./provider-fetch.ts";
import { createRetryingModel } from "./retry.ts";
import { createRouterModel, readRouter } from "./router-model.ts";
import { withUsableHeaders } from "./usable-headers.ts";
import { createWireAttempt, type AdapterDeps } from "./wire-attempt.ts";

export type OpenModelDeps = {
  readonly clock?: ModelClock;
  /** Sends HTTP requests; the global `fetch` unless given. Proxies of the environment are ignored. */
  readonly send?: Send;
  /** Finds a saved model by the name of its profile, keys included; null when there is none. */
  readonly findProfile?: FindProfile;
  /** Lessons by address; in memory unless given. */
  readonly lessons?: LessonStore;
};

export type FindProfile = (name: string) => Promise<LLM | null> | LLM | null;

/**
 * Opens the route an LLM object describes; no I/O happens yet. Fallbacks and routers are looked up when they are needed.
 * Throws a Fault that names the field at fault.
 */
export function openModel(llm: LLM, deps: OpenModelDeps = {}): Model {
  const router = readRouter(llm);
  const model = router === null ? openRoute(llm, deps) : createRouterModel(llm, router, openOther(llm, deps));
  const names = fallbackNamesOf(llm);
  return names.length === 0 ? model : createFallbackModel(model, names, openOther(llm, deps));
}

/** Opens another model in place of this one. Its own fallbacks and routers do not count; it is recorded under this one's name, and logged where this one is. */
function openOther(llm: LLM, deps: OpenModelDeps): (name: string) => Promise<Model | null> {
  return async (name) => {
    const profile = (await deps.findProfile?.(name)) ?? null;
    if (profile === null) return null;
    const isLogged = llm.log_completions === true || profile.log_completions === true;
    return openRoute({ ...profile, usage_id: llm.usage_id ?? "default", log_completions: isLogged }, deps);
  };
}

function openRoute(llm: LLM, deps: OpenModelDeps): Model {
  const settings = readModelSettings(llm);
  const clock = deps.clock ?? systemModelClock;
  const failure = {
    model: settings.name,
    host: hostOf(settings.route.baseUrl),
    port: URL.parse(settings.route.baseUrl)?.port ?? "",
    secrets: secretsOf(settings),
    clock: { nowMs: () => clock.nowMs() },
  };
  const wire = openWire(settings, { send: deps.send ?? fetch, clock });
  const native = /^(?:anthropic|bedrock)$/u.test(settings.route.wire) ? withSpokenHistory(wire) : wire;
  const attempt = settings.isToolCallingNative ? native : withPromptedCalls(wire);
  const model = createRetryingModel(
    {
      name: settings.name,
      isVisionEnabled: settings.isVisionEnabled,
      attempt: withUsableHeaders(
        withAddress(withFittedImages(attempt, imageLimitsOf(settings)), {
          address: addressOf(settings.route),
          rules: startingRules(settings.route),
          store: deps.lessons ?? createMemoryLessons(),
          failure,
        }),
        settings,
      ),
    },
    { clock, policy: settings.retry, idleTimeoutMs: settings.idleTimeoutMs, failure },
  );
  return settings.isLogged ? createLoggedModel(model, { settings, clock, secrets: failure.secrets }) : model;
}

function openWire(settings: ModelSettings, deps: AdapterDeps): Attempt {
  switch (settings.route.wire) {
    case "openai-chat":
      return createWireAttempt(openaiChatWire(settings), settings, deps);
    case "openai-responses":
      return createWireAttempt(openaiResponsesWire(settings), settings, deps);
    case "anthropic":
      return createWireAttempt(anthropicWire(settings), settings, deps);
    case "google":
      return createAiSdkAttempt(googleWire, settings, deps);
    case "bedrock":
      return createAiSdkAttempt(bedrockWire, settings, deps);
  }
}

const publicHeaders = new Set(["HTTP-Referer", "X-Title"]);

/** The key, and whatever else was put into headers to get in. */
function secretsOf(settings: ModelSettings): string[] {
  const values = Object.entries(settings.headers).filter(([name]) => !publicHeaders.has(name));
  const aws = settings.aws === null ? [] : [settings.aws.secretAccessKey, settings.aws.sessionToken ?? ""];
  return [settings.apiKey ?? "", ...aws, ...values.map(([, value]) => value)];
}
