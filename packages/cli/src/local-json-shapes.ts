import { Type, type TProperties, type TSchema } from "typebox";

const nullable = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);
const text = Type.String();
const texts = Type.Array(text);
const count = Type.Integer();
const instantMs = Type.Integer({ description: "Milliseconds since 1970." });
const anyObject = (description: string) => Type.Object({}, { description });

/** What `doctor` and `doctor --check-data` found. */
const doctor = {
  findings: Type.Array(
    Type.Object({
      name: text,
      state: Type.String({ description: "ok, optional or missing." }),
      detail: text,
      fix: nullable(text),
    }),
  ),
  damages: Type.Object({
    events: count,
    damages: Type.Array(Type.Object({ file: text, problem: text })),
  }),
};

const copied = Type.Object({ folder: text, files: count, left_out: texts });

const storeCopied = Type.Object({
  conversations: count,
  events: count,
  added: count,
  rows: count,
  differing: texts,
  conflicts: texts,
  changed: texts,
  unopened: Type.Integer({ description: "Secrets that could not be decrypted at the source either." }),
});

const keyFields = {
  id: text,
  userId: text,
  label: text,
  createdAtMs: instantMs,
  lastUsedAtMs: nullable(instantMs),
  revokedAtMs: nullable(instantMs),
  expiresAtMs: nullable(instantMs),
  role: text,
  scope: nullable(anyObject("What the key is limited to.")),
} satisfies TProperties;

const policy = Type.Object({
  userId: Type.String({ description: "`*` stands for all users." }),
  policy: anyObject("The limits, as on the wire."),
});

const keys = {
  key_created: Type.Object({ key: Type.String({ description: "Shown once." }), ...keyFields }),
  keys: Type.Array(Type.Object(keyFields)),
  key_revoked: Type.Object({ id: text, revoked: Type.Boolean() }),
  users: Type.Array(
    Type.Object({ id: text, role: text, createdAtMs: instantMs, disabledAtMs: nullable(instantMs) }),
  ),
  user_role: Type.Object({ id: text, role: text }),
  user_state: Type.Object({ id: text, disabled: Type.Boolean() }),
  policies: Type.Array(policy),
  policy,
  master_key_rotated: Type.Object({ resealed: count, unopened: count }),
};

const found = Type.Array(Type.Object({ stream: text, file: text, line: nullable(count), problem: text }));

const audit = {
  audit: Type.Object({
    streams: Type.Array(
      Type.Object({
        stream: text,
        files: count,
        lines: count,
        first: nullable(count),
        last: nullable(count),
        unchained: count,
      }),
    ),
    breaks: found,
    remarks: found,
  }),
  audit_heads: Type.Object({ heads: Type.Array(Type.Object({ stream: text, n: count, h: text })) }),
};

const sourcedRule = { source: text, index: count, rule: anyObject("As on the wire.") };

const rules = {
  rules: Type.Object({ rules: Type.Array(Type.Object(sourcedRule)), problems: texts }),
  rule_trial: Type.Object({
    effect: Type.String({ description: "allow, ask, deny or policy." }),
    decided_by: nullable(Type.Object({ ...sourcedRule, effect: text })),
    reading: nullable(anyObject("How the command was read, as on the wire.")),
    problems: texts,
  }),
};

/** Its parts are in docs/guides/debug-a-conversation.md. */
const inspection = Type.Object({
  id: Type.String({ format: "uuid" }),
  inspected_at: text,
  conclusions: texts,
  row: Type.Object({ title: nullable(text), owner_id: text, execution_status: text }),
  lease: Type.Object({ generation: count, node: nullable(anyObject("The server that has it.")) }),
  state: nullable(Type.Object({ execution_status: text, last_event_id: nullable(text) })),
  open_actions: Type.Array(Type.Object({ action_id: text, seq: count, tool_name: text, execution: text })),
  execution_record: Type.String({ description: "here, sandbox or elsewhere." }),
  parts: Type.Array(Type.Object({ id: text, execution_status: text })),
  store: Type.Object({ log_number: count, last_seq: count, snapshot_seq: count, damages: texts }),
  events: Type.Array(
    Type.Object({ seq: count, id: text, timestamp: nullable(text), kind: text, source: text, summary: text }),
  ),
});

const replay = Type.Object({
  verified: count,
  unrecorded: count,
  difference: nullable(Type.Object({ eventId: text, seq: count, who: text, recorded: text, rebuilt: text })),
});

/** Of commands that ask no server: they work on the machine, the data folder or the database. */
export const localJsonShapes = {
  ready: Type.Object({ url: text, pid: count }, { description: "Once, when it is ready." }),
  tool_host_ready: Type.Object({ address: text, pid: count }, { description: "Once, when it is ready." }),
  log: Type.Object(
    { level: count, time: instantMs },
    { description: "A line of the server's log; its other fields are no promise." },
  ),
  health: Type.Object({
    url: text,
    status: Type.String({ description: "ok, failing or unreachable." }),
    version: nullable(text),
  }),
  service: Type.Object({
    unit: nullable(text),
    enabled: Type.Boolean(),
    active: Type.Boolean(),
    pid: nullable(count),
  }),
  ...doctor,
  copied,
  store_copied: storeCopied,
  ...keys,
  ...audit,
  ...rules,
  inspection,
  replay,
};
