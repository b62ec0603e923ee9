import { Type, type Static } from "typebox";
import { choice, closedObject, nullable, object, orAbsent } from "../schema.ts";

const days = (description: string) => Type.Number({ minimum: 0, maximum: 36_500, description });

export const RetentionTag = closedObject("RetentionTag", {
  key: Type.String({ minLength: 1, maxLength: 256 }),
  value: Type.Optional(Type.String({ maxLength: 256, description: "Any value without it." })),
});
export type RetentionTag = Static<typeof RetentionTag>;

/** Conversations that it fits go into the trash. All of its conditions must hold, and it has one at least. */
export const RetentionRule = closedObject("RetentionRule", {
  name: Type.String({ minLength: 1, maxLength: 100, description: "What the record says that it was." }),
  older_than_days: Type.Optional(days("Since it was created.")),
  idle_days: Type.Optional(days("Since anything happened in it.")),
  larger_than_mib: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1_048_576, description: "Its events together, as JSON." }),
  ),
  tag: Type.Optional(RetentionTag),
});
export type RetentionRule = Static<typeof RetentionRule>;

export const RetentionPolicy = closedObject("RetentionPolicy", {
  rules: Type.Array(RetentionRule, { maxItems: 100 }),
  trash_days: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3_650,
      description: "How long the trash is restorable; 30 without it.",
    }),
  ),
});
export type RetentionPolicy = Static<typeof RetentionPolicy>;

export const RetentionPolicies = object("RetentionPolicies", {
  policy: RetentionPolicy,
  server_policy: nullable(RetentionPolicy, { description: "That of the server, for everybody." }),
});
export type RetentionPolicies = Static<typeof RetentionPolicies>;

/** What a rule was held against: a field for each of its conditions. */
export const RetentionFacts = object("RetentionFacts", {
  age_days: Type.Optional(Type.Number()),
  unused_days: Type.Optional(Type.Number()),
  tag: Type.Optional(Type.Object({ key: Type.String(), value: Type.String() })),
  size_mib: Type.Optional(Type.Number()),
});
export type RetentionFacts = Static<typeof RetentionFacts>;

/** Why a conversation that a rule fits is not moved: it is on hold, it works, it waits for an approval, or it belongs to a sandbox. */
export const RetentionStay = choice(["held", "running", "waiting_for_confirmation", "sandbox"]);
export type RetentionStay = Static<typeof RetentionStay>;

/** A conversation that a rule fits. */
export const RetentionMatch = object("RetentionMatch", {
  conversation_id: Type.String(),
  title: nullable(Type.String()),
  rule: Type.String(),
  why: Type.String({ description: "The facts in words." }),
  facts: RetentionFacts,
  stays_because: nullable(Type.String(), {
    description: "Why it is not removed all the same, in words; null: it goes.",
  }),
  stays: nullable(RetentionStay, { description: "The same as a code." }),
  hold_reason: nullable(Type.String(), { description: "Null where it is not on hold." }),
});
export type RetentionMatch = Static<typeof RetentionMatch>;

export const RetentionPlan = object("RetentionPlan", {
  matches: Type.Array(RetentionMatch),
  is_complete: Type.Boolean({ description: "False: there are more than are shown." }),
});
export type RetentionPlan = Static<typeof RetentionPlan>;

export const TrashedConversation = object("TrashedConversation", {
  conversation_id: Type.String(),
  title: nullable(Type.String()),
  reason: Type.String({ description: "Who put it there, or which rule." }),
  trashed_at: Type.String(),
  ends_at: Type.String({ description: "It is deleted after that." }),
  hold_reason: nullable(Type.String(), { description: "Not null: it is on hold, and is not deleted." }),
});
export type TrashedConversation = Static<typeof TrashedConversation>;

export const TrashPage = object("TrashPage", {
  items: Type.Array(TrashedConversation),
  next_page_id: nullable(Type.String()),
});
export type TrashPage = Static<typeof TrashPage>;

export const TrashEmptied = object("TrashEmptied", {
  deleted: Type.Integer(),
  held: Type.Integer({ description: "Those that stay because they are on hold." }),
  left: Type.Boolean({ description: "True: there is more; ask again." }),
});
export type TrashEmptied = Static<typeof TrashEmptied>;

export const SetHoldRequest = object("SetHoldRequest", {
  reason: orAbsent(Type.String({ maxLength: 500, description: "What who wants to delete it reads." })),
});
export type SetHoldRequest = Static<typeof SetHoldRequest>;

export const ConversationHold = object("ConversationHold", {
  conversation_id: Type.String(),
  reason: Type.String(),
  held_at: Type.String(),
});
export type ConversationHold = Static<typeof ConversationHold>;

export const ConversationHolds = object("ConversationHolds", { items: Type.Array(ConversationHold) });
export type ConversationHolds = Static<typeof ConversationHolds>;
