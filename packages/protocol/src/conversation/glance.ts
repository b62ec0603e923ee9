import { WallInfo } from "./wall.ts";
import { Type, type Static } from "typebox";
import { closedObject, mapOf, nullable, object, orNull, ref } from "../schema.ts";
import { ConversationExecutionStatus } from "./conversation-info.ts";

const instant = Type.String({ format: "date-time" });

/** Summary of a conversation: one row of a list or overview. */
export const Glance = object("Glance", {
  kind: Type.Literal("Glance"),
  id: Type.String({ format: "uuid" }),
  title: nullable(Type.String()),
  execution_status: ref(ConversationExecutionStatus),
  created_at: instant,
  updated_at: instant,
  version: Type.Integer({ description: "Grows with the log: a glance with a lower one is older." }),
  last_event_id: nullable(Type.String()),
  waiting: Type.Integer({ description: "Actions that wait for their user." }),
  deadline: nullable(instant, { description: "When the configured answer counts for them." }),
  queued: Type.Integer({ description: "Messages that no answer has been given to." }),
  cost: Type.Number({ description: "US dollars." }),
  context_tokens: Type.Integer({ description: "Tokens of the newest call of the agent's model." }),
  context_window: Type.Integer({ description: "0 where it is not known." }),
  model: nullable(Type.String()),
  retry_until: nullable(instant, { description: "The model is asked again then." }),
  goal: nullable(Type.String(), { description: "What is pursued." }),
  plan: nullable(
    Type.Object({
      done: Type.Integer(),
      total: Type.Integer(),
      current: nullable(Type.String()),
    }),
    { description: "How far the newest task list is." },
  ),
  last_text: Type.String({ description: "The first 160 characters of the newest message." }),
  tags: mapOf(Type.String()),
  working_dir: Type.String(),
  sandbox_id: nullable(Type.String()),
  parent_conversation_id: nullable(Type.String({ format: "uuid" })),
  is_pinned: Type.Boolean(),
  is_archived: Type.Boolean(),
  read_event_id: nullable(Type.String(), { description: "The newest event that its user was shown." }),
});
export type Glance = Static<typeof Glance>;

export const GlancePage = object("GlancePage", {
  items: Type.Array(ref(Glance)),
  next_page_id: orNull(Type.String()),
});
export type GlancePage = Static<typeof GlancePage>;

/** Everything that a page needs for its first rendering. */
export const Start = object("Start", {
  user_id: Type.String(),
  server: Type.Object({ version: Type.String(), started_at: instant }),
  can: Type.Object(
    {
      machine: Type.Boolean({ description: "Work on the server's own machine." }),
      sandboxes: Type.Boolean(),
      demo: Type.Boolean({ description: "Watch the demo: POST /api/demo." }),
      keys: Type.Boolean({ description: "Keep keys and logins; false on a server that needs none." }),
    },
    { description: "What this caller may do here." },
  ),
  models: Type.Object({
    profiles: Type.Array(Type.String()),
    active: nullable(Type.String()),
  }),
  default_workspace: Type.String({
    description: "Where the server was started, or a folder of the home where no wall can stand around that.",
  }),
  wall: ref(WallInfo),
  needs_you: Type.Integer({ description: "Conversations that wait for their user." }),
  spend_today: Type.Number({ description: "US dollars." }),
  conversations: ref(GlancePage),
});
export type Start = Static<typeof Start>;

/** Marks to set on a conversation; absent ones stay. */
export const SetMarksRequest = closedObject("SetMarksRequest", {
  read_event_id: Type.Optional(
    Type.String({
      format: "uuid",
      description: "The newest event that was shown; an older one than before changes nothing.",
    }),
  ),
  is_pinned: Type.Optional(Type.Boolean()),
  is_archived: Type.Optional(Type.Boolean()),
});
export type SetMarksRequest = Static<typeof SetMarksRequest>;
