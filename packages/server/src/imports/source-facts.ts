import { isObject, listOf, objectOr, type JsonObject } from "../lib/json-object.ts";
import { parseInstant } from "../lib/instant.ts";
import { normalizeUuid } from "../lib/uuid7.ts";
import { hideSecrets } from "../settings/secret-fields.ts";
import { ImportRefusal } from "./import-refusal.ts";
import type { SourceConversation } from "./source-conversation.ts";

/** What `meta.json` and `base_state.json` say of a conversation; null where neither does. */
export type SourceFacts = {
  readonly id: string | null;
  readonly title: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly createdAtMicros: number | null;
  readonly updatedAtMicros: number | null;
  readonly workingDir: string | null;
  readonly model: string | null;
  readonly confirmationPolicy: JsonObject | null;
  readonly maxIterations: number | null;
  readonly status: string | null;
  /** The event that the conversation continued from; null where events have no branches. */
  readonly leafEventId: string | null;
  readonly headIsEmpty: boolean;
  /** Names of its secrets; their values are not imported. */
  readonly secretNames: readonly string[];
  /** Every text that may be a secret, to be masked wherever it stands. */
  readonly secretValues: readonly string[];
};

type Documents = { readonly meta: JsonObject; readonly base: JsonObject };

/** Throws an {@link ImportRefusal} for a fact of another type, or one on which the two files disagree. */
export function readFacts(source: SourceConversation, meta: unknown, base: unknown): SourceFacts {
  const file = { meta: source.meta?.file ?? "meta.json", base: source.base?.file ?? "base_state.json" };
  for (const [part, value] of [
    ["meta", meta],
    ["base", base],
  ] as const)
    if (value !== null && !isObject(value)) throw refused(file[part], null, "is not an object");
  const documents: Documents = { meta: objectOr(meta), base: objectOr(base) };
  const find = <Value>(
    field: string,
    order: readonly ("meta" | "base")[],
    read: (value: unknown) => Value | null,
  ): Value | null => {
    for (const part of order) {
      const value = documents[part][field] ?? null;
      if (value === null) continue;
      const found = read(value);
      if (found === null) throw refused(file[part], field, "has a value of another type than expected");
      return found;
    }
    return null;
  };
  const [fromMeta, fromBase] = (["meta", "base"] as const).map((part) => find("id", [part], uuidOf));
  if (fromMeta && fromBase && fromMeta !== fromBase)
    throw refused(file.base, "id", `is ${fromBase}, and ${file.meta} has ${fromMeta}`);
  const both = ["base", "meta"] as const;
  const workspace = find("workspace", both, objectOf);
  const agent = find("agent", both, objectOf);
  return {
    id: fromBase ?? fromMeta ?? idInName(source.name),
    title: find("title", ["meta"], textOf),
    tags: find("tags", both, tagsOf) ?? {},
    createdAtMicros: find("created_at", ["meta"], instantOf),
    updatedAtMicros: find("updated_at", ["meta"], instantOf),
    workingDir: textOf(workspace?.["working_dir"]),
    model: textOf(objectOr(agent?.["llm"])["model"]) ?? find("llm_model", ["meta"], textOf),
    confirmationPolicy: find("confirmation_policy", both, objectOf),
    maxIterations: find("max_iterations", both, (value) => (typeof value === "number" ? value : null)),
    status: find("execution_status", both, textOf),
    leafEventId: find("leaf_event_id", ["base"], textOf),
    headIsEmpty: documents.base["head_is_empty"] === true,
    secretNames: secretNames(documents),
    secretValues: [...secretTexts(documents.meta), ...secretTexts(documents.base)],
  };
}

function refused(file: string, field: string | null, what: string): ImportRefusal {
  const place = field === null ? file : `${field} in ${file}`;
  return new ImportRefusal("invalid_file", `${place} ${what}.`, { file, field });
}

/** Folders and downloads have the id as their name. */
function idInName(name: string): string | null {
  return normalizeUuid(name.split("/").at(-1) ?? "");
}

function uuidOf(value: unknown): string | null {
  return typeof value === "string" ? normalizeUuid(value) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function objectOf(value: unknown): JsonObject | null {
  return isObject(value) ? value : null;
}

function instantOf(value: unknown): number | null {
  return typeof value === "string" ? parseInstant(value) : null;
}

function tagsOf(value: unknown): Record<string, string> | null {
  if (!isObject(value)) return null;
  const entries = Object.entries(value);
  return entries.every((entry): entry is [string, string] => typeof entry[1] === "string")
    ? Object.fromEntries(entries)
    : null;
}

function secretNames({ meta, base }: Documents): string[] {
  const registry = objectOr(objectOr(base["secret_registry"] ?? meta["secret_registry"])["secret_sources"]);
  return [...new Set([...Object.keys(registry), ...Object.keys(objectOr(meta["secrets"]))])].toSorted();
}

/** Shorter texts would be found in many others. */
const shortestSecret = 6;

/** Fields that are named like secrets, and the values of stored secrets, wherever they stand. */
function secretTexts(document: JsonObject): string[] {
  const found = new Set<string>();
  hideSecrets(document, (secret) => {
    found.add(secret);
    return "";
  });
  const sources = [document["secrets"], objectOr(document["secret_registry"])["secret_sources"]];
  for (const source of sources.flatMap((one) => Object.values(objectOr(one))))
    for (const value of isObject(source) ? [source["value"], ...listOf(source["values"])] : [source])
      if (typeof value === "string") found.add(value);
  return [...found].filter((text) => text.length >= shortestSecret && !/^\*+$/.test(text));
}
