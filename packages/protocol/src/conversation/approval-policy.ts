import { Type, type Static } from "typebox";
import { choice, closedObject, ref } from "../schema.ts";
import { SecurityRisk } from "../security/security-risk.ts";

/** A model that is asked about an action before a person is. Anything else than a clear yes leaves the action to the person. */
export const ReviewerPolicy = closedObject("ReviewerPolicy", {
  llm: Type.String({ minLength: 1, maxLength: 200, description: "The name of a stored model profile." }),
  up_to: Type.Optional(
    ref(SecurityRisk, { description: "The highest risk that it decides about; MEDIUM unless given." }),
  ),
});
export type ReviewerPolicy = Static<typeof ReviewerPolicy>;

/** Who answers instead of a person: a reviewer before, and an automatic answer to actions that nobody answers in time. */
export const ApprovalPolicy = closedObject("ApprovalPolicy", {
  timeout_seconds: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 31_536_000 })),
  on_timeout: Type.Optional(
    choice(["accept", "reject"], { description: "Together with `timeout_seconds`." }),
  ),
  reviewer: Type.Optional(ref(ReviewerPolicy)),
});
export type ApprovalPolicy = Static<typeof ApprovalPolicy>;
