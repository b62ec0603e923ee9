import type { LocalModelServersResponse, ModelsResponse, VerifiedModelsResponse } from "@convoke/protocol";

/** A model to choose: by name, with what is known about where it runs. */
export type ModelOption = {
  /** For `llm.model`. */
  readonly model: string;
  /** For `llm.base_url`, where the model needs one. */
  readonly baseUrl: string | null;
  /** The program on the server's machine that serves it; null for a provider. */
  readonly server: string | null;
  readonly isVerified: boolean;
};

const maxShown = 40;

/** Models on the server's machine first, then those with known limits and prices, then the others of the catalogue. */
export function modelOptions(
  { servers }: LocalModelServersResponse,
  { models: verified }: VerifiedModelsResponse,
  { models: known }: ModelsResponse,
): readonly ModelOption[] {
  const local = servers.flatMap(({ name, base_url, models }) =>
    models.map((model) => ({ model, baseUrl: base_url ?? null, server: name, isVerified: false })),
  );
  const named = new Set(
    Object.entries(verified).flatMap(([provider, names]) =>
      names.flatMap((name) => [name, `${provider}/${name}`]),
    ),
  );
  const ofProviders = known.map((model) => ({
    model,
    baseUrl: null,
    server: null,
    isVerified: named.has(model),
  }));
  return [
    ...local,
    ...ofProviders.filter(({ isVerified }) => isVerified),
    ...ofProviders.filter(({ isVerified }) => !isVerified),
  ];
}

/** Options whose name or server contains every word of the query, in their own order. */
export function matchingModels(options: readonly ModelOption[], query: string): readonly ModelOption[] {
  const words = query.trim().toLowerCase().split(/\s+/u);
  return options
    .filter(({ model, server }) => {
      const text = `${model} ${server ?? ""}`.toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .slice(0, maxShown);
}

/** A name for a stored model: the last part of the model's own, such as `qwen3-8b` of `ollama/qwen3:8b`; `model` where nothing of it can be in an address. */
export function proposedName(model: string): string {
  const last = model.split("/").at(-1) ?? "";
  const name = last.replaceAll(/[^\w.-]+/gu, "-").replaceAll(/^[-.]+|-+$/gu, "");
  return name.slice(0, 64) || "model";
}
