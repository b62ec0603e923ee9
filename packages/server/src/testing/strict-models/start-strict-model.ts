import { createHash } from "node:crypto";
import type { LLM } from "@convoke/protocol";
import type { Played } from "../scripted-model/script-player.ts";
import {
  startScriptedModel,
  type RecordedRequest,
  type Script,
  type ScriptTurn,
} from "../scripted-model/scripted-model.ts";
import type { Wire } from "../scripted-model/wire.ts";
import { refuse, type Refusal, type StrictProvider, type StrictRequest } from "./strict-provider.ts";

export type StrictModelOptions = {
  /** Turns are played in their order unless the script says otherwise. */
  readonly script: Script | readonly ScriptTurn[];
  /** Tokens of the window; the provider's own unless given. */
  readonly window?: number;
};

export type StrictModelServer = AsyncDisposable & {
  /** What goes into `llm.base_url`. */
  readonly baseUrl: string;
  /** An LLM object that opens the double, waits that pass at once. */
  readonly llm: LLM;
  /** Everything that was refused, oldest first. */
  readonly refusals: readonly RefusedRequest[];
  /** Everything that was answered, oldest first. */
  readonly requests: readonly RecordedRequest[];
};

export type RefusedRequest = { readonly request: StrictRequest; readonly refusal: Refusal };

/** Starts a strict double of a provider on 127.0.0.1. It plays a script and refuses what the provider would. */
export async function startStrictModel(
  provider: StrictProvider,
  options: StrictModelOptions,
): Promise<StrictModelServer> {
  const refusals: RefusedRequest[] = [];
  const { script } = options;
  const server = await startScriptedModel({
    script: "turns" in script ? script : { turns: script },
    provider: {
      path: provider.path,
      wire: withOwnIds(provider),
      refuse: (request) => {
        const refusal = refuse(provider, request, options.window);
        if (refusal !== null) refusals.push({ request, refusal });
        return refusal;
      },
    },
  });
  const baseUrl = `${server.url}${provider.path}`;
  return {
    baseUrl,
    llm: {
      retry_min_wait: 0,
      retry_max_wait: 0,
      retry_multiplier: 0,
      num_retries: 2,
      api_key: "key-of-a-strict-double",
      ...provider.llm,
      base_url: baseUrl,
    },
    refusals,
    requests: server.requests,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The wire of the provider, which names calls as the provider does and adds what it wants back. */
function withOwnIds(provider: StrictProvider): Wire {
  const { wire } = provider;
  let answers = 0;
  const ofProvider = (played: Played): Played => {
    answers += 1;
    const named = { ...played, answer: { ...played.answer, toolCalls: callsOf(played, provider, answers) } };
    return provider.adorn?.(named) ?? named;
  };
  return {
    ...wire,
    toEvents: (played, model) => wire.toEvents(ofProvider(played), model),
    toJson: (played, model) => wire.toJson(ofProvider(played), model),
  };
}

/** An id that the script gives stays; every other one is made as the provider makes them. */
function callsOf(played: Played, provider: StrictProvider, answers: number): Played["answer"]["toolCalls"] {
  return played.answer.toolCalls.map((call, index) => {
    if (played.turn.tool_calls?.[index]?.id !== undefined) return call;
    const seed = createHash("sha256")
      .update(`${provider.name} ${answers} ${index}`)
      .digest("hex")
      .slice(0, 32);
    return { ...call, id: provider.toCallId(seed, call.name, index) };
  });
}
