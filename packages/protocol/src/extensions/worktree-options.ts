import { Type, type Static } from "typebox";
import { choice, closedObject, orAbsent } from "../schema.ts";

/** Base and name of the branch of a conversation's own worktree. */
export const ConversationWorktreeOptions = closedObject("ConversationWorktreeOptions", {
  base: Type.Optional(
    choice(["default_branch", "head", "ref"], {
      default: "default_branch",
      description: "What the branch begins at; `ref` names it.",
    }),
  ),
  ref: orAbsent(Type.String({ maxLength: 200, pattern: "^[A-Za-z0-9][A-Za-z0-9._/-]*$" })),
  branch_prefix: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: "^([A-Za-z0-9][A-Za-z0-9._/-]*)?$",
      default: "openhands/",
      description: "The branch is called so, with the id of the conversation behind it.",
    }),
  ),
});
export type ConversationWorktreeOptions = Static<typeof ConversationWorktreeOptions>;
