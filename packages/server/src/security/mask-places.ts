/**
 * The kind of a document: an event; items of a provider, as sent; or any other document of the server, such as a
 * configuration.
 */
export type MaskedAs = "event" | "provider" | "document";

type Hide = (text: string) => string;

/**
 * A place in a document: the fields with protocol constants, ids and binary data, which stay unmasked even when a
 * secret equals one; and the places of nested fields. All other fields are content: whatever their names, an agent, a
 * tool or a stranger wrote them.
 */
type Place = {
  readonly unmasked: ReadonlySet<string>;
  readonly below: Readonly<Record<string, Place>>;
  /** The place of fields that are not named in `below`. */
  readonly others?: Place;
};

const content: Place = { unmasked: new Set(), below: {} };
const part: Place = { unmasked: new Set(["type", "image_urls"]), below: {} };
const block: Place = {
  unmasked: new Set(["id", "type", "signature", "encrypted_content", "data"]),
  below: { summary: part, content: part },
};
const call: Place = { unmasked: new Set(["id", "name", "origin", "type"]), below: {} };
const message: Place = {
  unmasked: new Set(["role", "name", "tool_call_id"]),
  below: { content: part, tool_calls: call, thinking_blocks: block, responses_reasoning_item: block },
};
const definition: Place = {
  unmasked: new Set(["kind", "action_type", "observation_type"]),
  below: {},
};

/** A place in which names mean the same at any depth, except in content of an agent or a tool. */
function everywhere(unmasked: readonly string[]): Place {
  const written = ["action", "observation", "arguments", "args", "input", "data", "tool_call"];
  const place: { unmasked: Place["unmasked"]; below: Place["below"]; others?: Place } = {
    unmasked: new Set(unmasked),
    below: Object.fromEntries(written.map((name) => [name, content])),
  };
  place.others = place;
  return place;
}

const document = everywhere([
  "id",
  "timestamp",
  "source",
  "kind",
  "type",
  "role",
  "tool_name",
  "tool_call_id",
]);

const places: Readonly<Record<MaskedAs, Place>> = {
  event: {
    unmasked: new Set([
      "id",
      "timestamp",
      "source",
      "kind",
      "key",
      "tool_name",
      "tool_call_id",
      "action_id",
      "llm_response_id",
      "security_risk",
      "forgotten_event_ids",
    ]),
    below: {
      action: { unmasked: new Set(["kind"]), below: {} },
      observation: {
        unmasked: new Set(["kind", "status", "screenshot_data"]),
        below: { content: part, task_list: { unmasked: new Set(["status"]), below: {} } },
      },
      llm_message: message,
      thought: part,
      extended_content: part,
      system_prompt: part,
      thinking_blocks: block,
      responses_reasoning_item: block,
      tool_call: call,
      tools: definition,
      value: document,
    },
  },
  provider: everywhere([
    "id",
    "type",
    "role",
    "signature",
    "encrypted_content",
    "thoughtSignature",
    "wire",
    "host",
  ]),
  document,
};

/** The value with masked texts, except in unmasked fields. */
export function hideAt(as: MaskedAs, value: unknown, hide: Hide): unknown {
  return hideIn(value, hide, places[as]);
}

function hideIn(value: unknown, hide: Hide, place: Place): unknown {
  if (typeof value === "string") return hide(value);
  if (Array.isArray(value)) return value.map((item) => hideIn(item, hide, place));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      place.unmasked.has(name) && isUnmasked(field) ? field : hideIn(field, hide, placeBelow(place, name)),
    ]),
  );
}

function placeBelow({ below, others = content }: Place, name: string): Place {
  return Object.hasOwn(below, name) ? below[name]! : others;
}

/** A text or a list of texts; an object under a protocol name is not the protocol's and is masked. */
function isUnmasked(field: unknown): boolean {
  return (
    typeof field !== "object" || (Array.isArray(field) && field.every((item) => typeof item !== "object"))
  );
}
