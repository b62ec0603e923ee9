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
  /** Turns are played in order unless the script says otherwise. */
  readonly script: Script | readonly ScriptTurn[];
  /** Tokens of the window; the provider's own unless given. */
  readonly window?: number;
};

export type StrictModelServer = AsyncDisposable & {
  /** The value for `llm.base_url`. */
  readonly baseUrl: string;
  /** An LLM object for the double, without waits before retries. */
  readonly llm: LLM;
  /** All refused requests, oldest first. */
  readonly refusals: readonly RefusedRequest[];
  /** All answered requests, oldest first. */
  readonly requests: readonly RecordedRequest[];
};

export type RefusedRequest = { readonly request: StrictRequest; readonly refusal: Refusal };

/** Starts a strict double of a provider on 127.0.0.1. It plays a script and refuses what the provider would refuse. */
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

/** The provider's wire, with its form of call ids and the fields that it wants back. */
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

/** An id of the script stays; other ids are generated in the provider's form. */
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
