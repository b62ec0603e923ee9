import type { ACPModelInfo } from "@convoke/protocol";
import { isObject, type JsonObject } from "../../lib/json-object.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";

/** The models of a session, and the way in which its agent lets them be chosen. */
export type AcpModels = {
  readonly current: string | null;
  readonly available: readonly ACPModelInfo[];
  /** The id of a configuration option, or the older request of its own; null: they cannot be chosen. */
  readonly by: { readonly option: string } | "set_model" | null;
};

const noModels: AcpModels = { current: null, available: [], by: null };

/** Reads the reply to a new session, or a list of options, of which agents know a stable and an older form. */
export function readModels(reply: unknown): AcpModels {
  if (!isObject(reply)) return noModels;
  const options = Array.isArray(reply["configOptions"]) ? reply["configOptions"].filter(isObject) : [];
  const option = options.find((one) => one["category"] === "model" && Array.isArray(one["options"]));
  if (option !== undefined) {
    return {
      current: textOr(option["currentValue"]),
      available: valuesIn(option["options"]).map((value) => modelOf(value, "value")),
      by: { option: String(option["id"]) },
    };
  }
  const { models } = reply;
  if (!isObject(models) || !Array.isArray(models["availableModels"])) return noModels;
  return {
    current: textOr(models["currentModelId"]),
    available: models["availableModels"].filter(isObject).map((value) => modelOf(value, "modelId")),
    by: "set_model",
  };
}

/** Options may be in groups. */
function valuesIn(options: unknown): readonly JsonObject[] {
  if (!Array.isArray(options)) return [];
  return options
    .filter(isObject)
    .flatMap((one) => (Array.isArray(one["options"]) ? valuesIn(one["options"]) : [one]));
}

function modelOf(value: JsonObject, idField: string): ACPModelInfo {
  return withoutUndefined({
    model_id: String(value[idField]),
    name: textOr(value["name"]) ?? undefined,
    description: textOr(value["description"]) ?? undefined,
  });
}

function textOr(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
