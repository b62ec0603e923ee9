/**
 * What a document is: an event; the items of a provider, as it sent them; or anything else that the server made, such as a
 * configuration.
 */
export type MaskedAs = "event" | "provider" | "document";

type Hide = (text: string) => string;

/**
 * A place of a document: fields that hold the wire's own words, ids and binary data, which a secret that happens to equal one
 * must not break; and what the fields with fields of their own are. All others are content: whatever their names, an agent, a
 * tool or a stranger wrote them.
 */
type Place = {
  readonly unmasked: ReadonlySet<string>;
  readonly below: Readonly<Record<string, Place>>;
  /** What fields are that are not named in `below`. */
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

/** Where names mean the same at any depth, but for what an agent or a tool wrote. */
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

/** The value with its texts hidden, but for what its places keep. */
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

/** A word, an id or a list of them; an object under a name of the wire is none of the wire's. */
function isUnmasked(field: unknown): boolean {
  return (
    typeof field !== "object" || (Array.isArray(field) && field.every((item) => typeof item !== "object"))
  );
}
