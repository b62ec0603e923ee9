import { Type, type Static } from "typebox";
import { sendMessageExtensions } from "../extensions/request-extensions.ts";
import { contentPart, roles } from "../message/message.ts";
import { choice, closedObject, flag, list, object } from "../schema.ts";

/** A message for a conversation; `run` also starts the agent. */
export const SendMessageRequest = object("SendMessageRequest", {
  role: Type.Optional(choice(roles, { default: "user" })),
  content: list(contentPart),
  run: flag(false),
  ...sendMessageExtensions,
});
export type SendMessageRequest = Static<typeof SendMessageRequest>;

/** The user's answer to a request for confirmation. */
export const ConfirmationResponseRequest = closedObject("ConfirmationResponseRequest", {
  accept: Type.Boolean(),
  reason: Type.Optional(Type.String({ default: "User rejected the action." })),
});
export type ConfirmationResponseRequest = Static<typeof ConfirmationResponseRequest>;
