import { Type, type Static } from "typebox";
import { choice, closedObject } from "../schema.ts";

/** The automatic answer to actions that nobody answers in time. */
export const ApprovalPolicy = closedObject("ApprovalPolicy", {
  timeout_seconds: Type.Number({ exclusiveMinimum: 0, maximum: 31_536_000 }),
  on_timeout: choice(["accept", "reject"]),
});
export type ApprovalPolicy = Static<typeof ApprovalPolicy>;
