import { isObject, type JsonObject } from "../lib/json-object.ts";
import { hideSecrets } from "../settings/secret-fields.ts";

/** What events say, in their own words: an id in there is a text. */
const contents = new Set([
  "action",
  "content",
  "extended_content",
  "llm_message",
  "observation",
  "system_prompt",
  "thought",
  "tool_call",
  "tools",
]);

/** Ends the id of a summary that was never an event of the log. */
const summarySuffix = "-summary";

/**
 * An event with its new id, and with those of the events that it names. State updates may hold configurations with credentials, which
 * are hidden.
 */
export function rewriteEvent(event: JsonObject, id: string, newIds: ReadonlyMap<string, string>): JsonObject {
  const { key, value } = event;
  const isState = event["kind"] === "ConversationStateUpdateEvent" && isObject(value);
  const hidden = isState ? { ...event, value: hideValues(String(key), value) } : event;
  const renamed = rename(hidden, newIds) as JsonObject;
  return { ...renamed, id };
}

function hideValues(key: string, value: JsonObject): JsonObject {
  return key === "secret_registry" ? withoutValues(value) : hideSecrets(value);
}

/** Names and descriptions of secrets stay, their values do not. */
function withoutValues(registry: JsonObject): JsonObject {
  const sources = registry["secret_sources"];
  if (!isObject(sources)) return hideSecrets(registry);
  const hidden = Object.entries(sources).map(([name, source]) => [
    name,
    isObject(source) ? { ...hideSecrets(source), value: null } : null,
  ]);
  return { ...registry, secret_sources: Object.fromEntries(hidden) as unknown };
}

function rename(value: unknown, newIds: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return renamed(value, newIds);
  if (Array.isArray(value)) return value.map((item) => rename(item, newIds));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      renamed(key, newIds),
      contents.has(key) ? field : rename(field, newIds),
    ]),
  );
}

function renamed(text: string, newIds: ReadonlyMap<string, string>): string {
  const known = newIds.get(text);
  if (known !== undefined) return known;
  if (!text.endsWith(summarySuffix)) return text;
  const condensation = newIds.get(text.slice(0, -summarySuffix.length));
  return condensation === undefined ? text : `${condensation}${summarySuffix}`;
}
