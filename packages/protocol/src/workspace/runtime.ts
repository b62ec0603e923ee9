import { Type, type Static } from "typebox";
import { choice, object, orAbsent, ref } from "../schema.ts";

/** Why a machine is missing. */
export const ConversationRuntimeError = object("ConversationRuntimeError", {
  code: Type.String(),
  message: Type.String(),
});

/** Whether the machine of a conversation exists. */
export const ConversationRuntimeInfo = object("ConversationRuntimeInfo", {
  runtime_status: choice(["available", "starting", "missing", "ownership_lost", "error"]),
  can_resume: Type.Boolean(),
  runtime_error: orAbsent(ref(ConversationRuntimeError)),
});
export type ConversationRuntimeInfo = Static<typeof ConversationRuntimeInfo>;

/** A task for a new conversation with its parent's configuration. */
export const StartChildConversationRequest = object("StartChildConversationRequest", {
  task: Type.String({ minLength: 1 }),
  title: orAbsent(Type.String()),
  isolation: Type.Optional(
    choice(["worktree", "shared"], {
      default: "worktree",
      description:
        "worktree asks for a directory of its own where that is possible; the answer says what came of it.",
    }),
  ),
});
export type StartChildConversationRequest = Static<typeof StartChildConversationRequest>;

const uuid = Type.String({ format: "uuid" });

/** The new, running conversation. */
export const StartChildConversationResponse = object("StartChildConversationResponse", {
  conversation_id: uuid,
  parent_conversation_id: uuid,
  status: Type.String(),
  title: orAbsent(Type.String()),
  url: orAbsent(Type.String()),
  workspace: orAbsent(Type.String()),
  isolation: orAbsent(choice(["worktree", "shared"])),
});
export type StartChildConversationResponse = Static<typeof StartChildConversationResponse>;
