import type { LLM } from "@convoke/protocol";
import { invalidField } from "../lib/fault.ts";
import type { OpenProfile } from "./fallback-model.ts";
import type { Model, ModelMessage, ModelPart, ModelRequest } from "./model.ts";
import { isObject } from "../lib/json-object.ts";

/** Chooses one of several saved models for each call. */
export type Router =
  | { readonly kind: "RandomRouter"; readonly profiles: readonly string[] }
  | {
      readonly kind: "MultimodalRouter";
      /** For requests with images, and for those too long for the other one. */
      readonly primary: string;
      readonly secondary: string;
      /** Tokens that the secondary takes; null where only images decide. */
      readonly secondaryInputTokens: number | null;
    };

/** Reads `llm.router`; null where there is none. Throws a Fault for one that is not understood. */
export function readRouter(llm: LLM, loc: readonly string[] = ["body", "llm", "router"]): Router | null {
  const { router } = llm as { readonly router?: unknown };
  if (typeof router !== "object" || router === null) return null;
  const {
    kind,
    llms_for_routing: given,
    max_input_tokens: limit,
  } = router as Readonly<Record<string, unknown>>;
  const names = profileNames(given);
  if (kind === "RandomRouter" && names.size > 0) return { kind, profiles: [...names.values()] };
  const primary = names.get("primary");
  const secondary = names.get("secondary");
  if (kind === "MultimodalRouter" && primary !== undefined && secondary !== undefined) {
    return { kind, primary, secondary, secondaryInputTokens: typeof limit === "number" ? limit : null };
  }
  throw invalidField(
    [...loc],
    "This router is not understood: use kind RandomRouter or MultimodalRouter, and llms_for_routing with names of profiles.",
  );
}

/** A model that is another one in each call. `random` is from 0 to 1. */
export function createRouterModel(
  llm: LLM,
  router: Router,
  open: OpenProfile,
  random: () => number = Math.random,
): Model {
  return {
    name: llm.model ?? router.kind,
    isVisionEnabled: llm.disable_vision !== true,
    stream: (request, signal) => streamRouted(choose(router, request, random), open, request, signal),
  };
}

/** The profile that answers a request. Pure apart from `random`. */
export function choose(router: Router, request: ModelRequest, random: () => number): string {
  if (router.kind === "RandomRouter") {
    return router.profiles[Math.floor(random() * router.profiles.length)] ?? router.profiles[0]!;
  }
  const { primary, secondary, secondaryInputTokens: limit } = router;
  const isTooLong = limit !== null && estimateTokens(request) > limit;
  return isTooLong || request.messages.some(hasImage) ? primary : secondary;
}

async function* streamRouted(
  name: string,
  open: OpenProfile,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelPart> {
  const model = await open(name);
  if (model === null) {
    const detail = `The profile ${name} that llm.router names does not exist. Save it, or change llm.router.`;
    yield { type: "failed", error: { code: "LLMBadRequestError", detail, isRetryable: false } };
    return;
  }
  yield* model.stream(request, signal);
}

/** Values are names of profiles, or objects that name one. */
function profileNames(given: unknown): ReadonlyMap<string, string> {
  const entries = Array.isArray(given) ? given.map((name, at): [string, unknown] => [String(at), name]) : [];
  const named = isObject(given) ? Object.entries(given) : entries;
  return new Map(
    named.flatMap(([role, value]): [string, string][] => {
      const name =
        typeof value === "string" ? value : (value as { llm_profile?: unknown } | null)?.llm_profile;
      return typeof name === "string" ? [[role, name]] : [];
    }),
  );
}

function hasImage(message: ModelMessage): boolean {
  return message.role !== "assistant" && message.content.some((part) => "image_urls" in part);
}

/** About four characters are a token; the choice only needs the order of magnitude. */
function estimateTokens({ messages, tools }: ModelRequest): number {
  return Math.ceil((JSON.stringify(messages).length + JSON.stringify(tools).length) / 4);
}
