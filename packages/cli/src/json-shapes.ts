import { Type, type Static } from "typebox";
import { localJsonShapes } from "./local-json-shapes.ts";

const id = Type.String({ format: "uuid", description: "Id of a conversation." });
const status = Type.String({ description: "Execution status of the conversation, as on the wire." });
const nullableText = Type.Union([Type.String(), Type.Null()]);
const timestamp = Type.String({ description: "RFC 3339." });

/** Commit and digest are null for a folder. */
const pluginSource = {
  source: Type.String(),
  repo_path: nullableText,
  resolved_ref: nullableText,
  digest: nullableText,
};

/**
 * Shape of what commands print with `--json`; `json-outputs.ts` says which command prints which. More fields may be added. Those of commands
 * over the API have the names of the wire.
 */
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
    include_system_prompt: Type.Boolean(),
    created_at: timestamp,
    expires_at: timestamp,
    last_used_at: nullableText,
    url: Type.Optional(Type.String({ description: "The link; only when it was made." })),
  }),
  unshare: Type.Object({ conversation_id: id, id: Type.String(), revoked: Type.Boolean() }),
  profile: Type.Object({
    kind: Type.String({ description: "model or agent." }),
    name: Type.String(),
    detail: nullableText,
    is_active: Type.Boolean(),
  }),
  profile_revision: Type.Object({
    number: Type.Integer(),
    name: Type.String(),
    created_at: timestamp,
    change: Type.String({ description: "found, saved, renamed or restored." }),
    restored_from: Type.Union([Type.Integer(), Type.Null()]),
    digest: Type.String(),
    is_current: Type.Boolean(),
    is_pinned: Type.Boolean(),
  }),
  profile_difference: Type.Object({
    path: Type.Array(Type.String()),
    change: Type.String({ description: "added, removed or changed." }),
    is_secret: Type.Boolean(),
  }),
  schedule: Type.Object({
    id: Type.String(),
    name: Type.String(),
    is_paused: Type.Boolean(),
    trigger: Type.Record(Type.String(), Type.Unknown(), { description: "As on the wire." }),
    prompt: Type.String(),
    next_due_at: nullableText,
  }),
  schedule_run: Type.Object({
    id: Type.String(),
    automation_id: Type.String(),
    origin: Type.String(),
    state: Type.String({ description: "queued, claimed, started, finished, failed, replaced or skipped." }),
    reason: nullableText,
    due_at: timestamp,
    last_due_at: nullableText,
    count: Type.Integer({ description: "How many due times the line stands for." }),
    conversation_id: nullableText,
    created_at: timestamp,
    started_at: nullableText,
    ended_at: nullableText,
  }),
  schedule_next: Type.Object({ id: Type.String(), due_at: timestamp }),
  schedule_rm: Type.Object({ id: Type.String(), deleted: Type.Boolean() }),
  plugin: Type.Object({
    name: Type.String(),
    version: Type.String(),
    description: Type.String(),
    enabled: Type.Boolean(),
    ...pluginSource,
    requested_ref: nullableText,
    installed_at: timestamp,
    install_path: Type.String({ description: "Folder on the machine of the server." }),
  }),
  plugin_preview: Type.Object({
    name: Type.String(),
    version: Type.String(),
    description: Type.String(),
    ...pluginSource,
    skills: Type.Array(Type.String()),
    commands: Type.Array(Type.String()),
    agents: Type.Array(Type.Object({ name: Type.String(), description: Type.String() })),
    hooks: Type.Array(Type.Object({ event: Type.String(), matcher: Type.String(), runs: Type.String() })),
    mcp_servers: Type.Array(
      Type.Object({ name: Type.String(), transport: Type.String(), target: Type.String() }),
    ),
    warnings: Type.Array(Type.Object({ code: Type.String(), detail: Type.String() })),
    files: Type.Array(
      Type.Object({ path: Type.String(), size: Type.Integer(), is_executable: Type.Boolean() }),
    ),
  }),
  plugin_changes: Type.Object({
    name: Type.String(),
    from: Type.String({ description: "Commit." }),
    to: Type.String({ description: "Commit." }),
    added: Type.Array(Type.String()),
    changed: Type.Array(Type.String()),
    removed: Type.Array(Type.String()),
  }),
  plugin_rm: Type.Object({ name: Type.String(), removed: Type.Boolean() }),
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
  retention_match: Type.Object({
    conversation_id: id,
    title: nullableText,
    rule: Type.String(),
    why: Type.String(),
    facts: Type.Object({}, { description: "What `why` says, as on the wire." }),
    stays_because: nullableText,
    stays: Type.Union([Type.String(), Type.Null()], {
      description: "The code of `stays_because`, as on the wire.",
    }),
    hold_reason: nullableText,
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
    { description: "On stderr, of commands over the API and of `run`." },
  ),
  ...localJsonShapes,
};

export type JsonShape = keyof typeof jsonShapes;
export type JsonLine<Shape extends JsonShape> = Static<(typeof jsonShapes)[Shape]>;
