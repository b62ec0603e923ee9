import { Type, type Static } from "typebox";
import { contentPart } from "../message/message.ts";
import { flag, object, orNull, ref } from "../schema.ts";
import { SandboxStatus } from "./sandbox.ts";

/** A message for a conversation in a sandbox; the agent works on it unless `run` is false. */
export const AppSendMessageRequest = object("AppSendMessageRequest", {
  role: Type.Optional(Type.Literal("user", { default: "user" })),
  content: Type.Array(contentPart, { minItems: 1 }),
  run: flag(true),
});
export type AppSendMessageRequest = Static<typeof AppSendMessageRequest>;

/** The message is stored. */
export const AppSendMessageResponse = object("AppSendMessageResponse", {
  success: Type.Boolean(),
  sandbox_status: ref(SandboxStatus),
  message: orNull(Type.String()),
});
export type AppSendMessageResponse = Static<typeof AppSendMessageResponse>;

/** A message for a conversation that is still being started. */
export const PendingMessageRequest = object("PendingMessageRequest", {
  role: Type.Optional(Type.Literal("user", { default: "user" })),
  content: Type.Array(contentPart, { minItems: 1 }),
});
export type PendingMessageRequest = Static<typeof PendingMessageRequest>;

/** Position of a queued message: `queued` until the conversation has started; the first one has `position` 1. */
export const PendingMessageResponse = object("PendingMessageResponse", {
  id: Type.String(),
  queued: Type.Boolean(),
  position: Type.Integer(),
});
export type PendingMessageResponse = Static<typeof PendingMessageResponse>;
