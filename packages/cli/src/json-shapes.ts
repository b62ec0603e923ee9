import { Type, type Static } from "typebox";

const id = Type.String({ format: "uuid", description: "Id of a conversation." });
const status = Type.String({ description: "Execution status of the conversation, as on the wire." });
const nullableText = Type.Union([Type.String(), Type.Null()]);
const timestamp = Type.String({ description: "RFC 3339." });

/** Shape of each line that a command prints with `--json`. Fields have the names of the wire; more may be added. */
export const jsonShapes = {
  ls: Type.Object({
    id,
    title: nullableText,
    execution_status: status,
    working_dir: nullableText,
    created_at: timestamp,
    updated_at: timestamp,
    cost: Type.Number({ description: "US dollars." }),
    tokens: Type.Integer({ description: "Of prompts and completions." }),
  }),
  event: Type.Object(
    { id: Type.String(), kind: Type.String(), timestamp: Type.String(), source: Type.String() },
    { description: "A stored event as on the wire, with the fields of its kind." },
  ),
  conversation: Type.Object({ id, execution_status: status }),
  send: Type.Object({ id, event_id: nullableText, execution_status: status }),
  rm: Type.Object({ id, deleted: Type.Boolean() }),
  share: Type.Object({
    conversation_id: id,
    id: Type.String(),
    label: Type.String(),
    up_to_event_id: nullableText,
    created_at: timestamp,
    expires_at: timestamp,
    last_used_at: nullableText,
    url: Type.Optional(Type.String({ description: "The link; only when it was made." })),
  }),
  unshare: Type.Object({ conversation_id: id, id: Type.String(), revoked: Type.Boolean() }),
  trash: Type.Object({
    conversation_id: id,
    title: nullableText,
    reason: Type.String(),
    trashed_at: timestamp,
    ends_at: timestamp,
    hold_reason: nullableText,
  }),
  restored: Type.Object({ id, restored: Type.Boolean() }),
  emptied: Type.Object({ deleted: Type.Integer(), held: Type.Integer() }),
  hold: Type.Object({ conversation_id: id, reason: Type.String(), held_at: timestamp }),
  unhold: Type.Object({ id, held: Type.Boolean() }),
  retention: Type.Object(
    { policy: Type.Object({}), server_policy: Type.Union([Type.Object({}), Type.Null()]) },
    { description: "The policies as on the wire." },
  ),
  "retention-match": Type.Object({
    conversation_id: id,
    title: nullableText,
    rule: Type.String(),
    why: Type.String(),
    stays_because: nullableText,
  }),
  import: Type.Object({
    source: Type.String({ description: "Its folder in the archive, or the name of the file." }),
    status: Type.String({ description: "`imported`, `unchanged`, `would_import` or `refused`." }),
    conversation_id: nullableText,
    title: nullableText,
    events: Type.Integer(),
    warnings: Type.Array(Type.String()),
    code: nullableText,
    detail: nullableText,
    file: nullableText,
    field: nullableText,
  }),
  search: Type.Object({
    conversation_id: id,
    event_id: Type.String(),
    kind: Type.String(),
    timestamp,
    text: Type.String(),
  }),
  stats: Type.Object({
    date: Type.String({ description: "Day in UTC, YYYY-MM-DD." }),
    cost: Type.Number({ description: "US dollars." }),
  }),
  stats_conversation: Type.Object({
    conversation_id: id,
    cost: Type.Number({ description: "US dollars." }),
    calls: Type.Integer(),
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    last_day: Type.String({ description: "Day in UTC of the last call." }),
  }),
  approvals: Type.Object({
    conversation_id: id,
    action_id: Type.String(),
    tool_name: Type.String(),
    risk: Type.String(),
    reasons: Type.Array(Type.String()),
    deadline: nullableText,
  }),
  config: Type.Object({
    key: Type.String(),
    value: Type.Union([Type.Null(), Type.String(), Type.Number(), Type.Boolean(), Type.Array(Type.String())]),
    origin: Type.String(),
    is_secret: Type.Boolean(),
  }),
  export: Type.Object({ id, file: Type.String(), bytes: Type.Integer() }),
  error: Type.Object(
    { error: Type.Object({ code: Type.String(), message: Type.String() }) },
    { description: "On stderr, whatever the command." },
  ),
};

export type JsonShape = keyof typeof jsonShapes;
export type JsonLine<Shape extends JsonShape> = Static<(typeof jsonShapes)[Shape]>;
