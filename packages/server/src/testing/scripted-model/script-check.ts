type Check = (value: unknown, at: string) => void;
type Fields = Readonly<Record<string, Check>>;

/** Throws when a parsed script has an unknown field or one of the wrong type. */
export function checkScript(script: Record<string, unknown>): void {
  checkFields(script, scriptFields, "script");
  if (!Array.isArray(script["turns"])) throw fault("script.turns", "is missing: it must be a list of turns");
}

export function checkObject(value: unknown, at: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw fault(at, "must be an object");
}

function fault(at: string, problem: string): Error {
  return new Error(`${at} ${problem}.`);
}

function checkFields(value: Record<string, unknown>, fields: Fields, at: string): void {
  for (const [name, part] of Object.entries(value)) {
    const check = fields[name];
    if (check === undefined) {
      throw fault(`${at}.${name}`, `is not known: use ${Object.keys(fields).join(", ")}`);
    }
    check(part, `${at}.${name}`);
  }
}

const kind =
  (name: "string" | "boolean"): Check =>
  (value, at) => {
    if (typeof value !== name) throw fault(at, `must be a ${name}`);
  };
const text = kind("string");
const flag = kind("boolean");
const count: Check = (value, at) => {
  if (!Number.isInteger(value) || (value as number) < 0) throw fault(at, "must be a whole number from 0 up");
};
const positive: Check = (value, at) => {
  count(value, at);
  if (value === 0) throw fault(at, "must be at least 1");
};
const oneOf =
  (...allowed: readonly unknown[]): Check =>
  (value, at) => {
    if (!allowed.includes(value)) {
      throw fault(at, `must be one of ${allowed.map((one) => JSON.stringify(one)).join(", ")}`);
    }
  };
const listOf =
  (check: Check): Check =>
  (value, at) => {
    if (!Array.isArray(value)) throw fault(at, "must be a list");
    for (const [index, item] of value.entries()) check(item, `${at}[${index}]`);
  };
const record =
  (fields: Fields, required: readonly string[] = []): Check =>
  (value, at) => {
    const object = checkObject(value, at);
    checkFields(object, fields, at);
    for (const name of required) if (!(name in object)) throw fault(`${at}.${name}`, "is missing");
  };

const condition = record({ last_user_contains: text, last_tool_output_contains: text });

const toolCall = record(
  {
    name: text,
    id: text,
    arguments: (value, at) => {
      if (typeof value !== "string") checkObject(value, at);
    },
  },
  ["name", "arguments"],
);

const error = record(
  {
    status: (value, at) => {
      if (!Number.isInteger(value) || (value as number) < 400 || (value as number) > 599) {
        throw fault(at, "must be an HTTP status from 400 to 599");
      }
    },
    message: text,
    type: text,
    retry_after: text,
  },
  ["status"],
);

const usage = record({
  prompt_tokens: count,
  completion_tokens: count,
  cache_read_tokens: count,
  cache_write_tokens: count,
  reasoning_tokens: count,
  cost: (value, at) => {
    if (typeof value !== "number" || !(value >= 0)) throw fault(at, "must be a number from 0 up");
  },
});

const texts: Check = (value, at) => {
  for (const [name, part] of Object.entries(checkObject(value, at))) text(part, `${at}.${name}`);
};

const raw = record({
  status: (value, at) => {
    if (!Number.isInteger(value) || (value as number) < 200 || (value as number) > 599) {
      throw fault(at, "must be an HTTP status from 200 to 599");
    }
  },
  headers: texts,
  body: text,
  repeat: positive,
  delay_ms: count,
  ending: oneOf("end", "hang", "cut"),
});

const turn = record({
  text,
  reasoning: text,
  signature: text,
  redacted_thinking: text,
  refusal: text,
  tool_calls: listOf(toolCall),
  finish_reason: oneOf("stop", "length", "content_filter"),
  usage,
  delay_ms: count,
  chunk_delay_ms: count,
  chunk_size: positive,
  write_bytes: positive,
  plain_json: flag,
  content_type: text,
  error,
  overflow: flag,
  hang: oneOf(true, false, "body"),
  cut_after_bytes: count,
  half_json: flag,
  empty: flag,
  raw,
  attempts: positive,
  expect: condition,
  match: condition,
});

const scriptFields: Fields = {
  turns: listOf(turn),
  select: oneOf("by_history", "in_order"),
  loop: flag,
  after_end: oneOf("finish", "error"),
  unique_ids: flag,
  model: text,
  vars: texts,
};
