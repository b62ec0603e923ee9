import { Type, type Static } from "typebox";
import { ReviewerPolicy } from "../conversation/approval-policy.ts";
import { conversationSeconds, runSeconds } from "../conversation/time-limits.ts";
import { WallRequest } from "../conversation/wall.ts";
import { choice, closedObject, flag, mapOf, nullable, object, orAbsent, ref } from "../schema.ts";
import { ConfirmationPolicyInput } from "../security/confirmation-policy.ts";
import { AutomationRun } from "./automation-run.ts";
import { AutomationTrigger } from "./automation-trigger.ts";

/** A Git repository that the agent clones first, into a new folder, behind its wall. */
export const AutomationRepository = closedObject("AutomationRepository", {
  url: Type.String({
    maxLength: 2_048,
    pattern: "^(https?://|ssh://|git@)[^\\s'\"`$\\\\]+$",
    description: "Without credentials, e.g. `https://git.example.com/team/service.git`.",
  }),
  ref: orAbsent(Type.String({ maxLength: 200, pattern: "^[A-Za-z0-9][A-Za-z0-9._/-]*$" }), {
    description: "Branch, tag or commit; the default branch unless given.",
  }),
});
export type AutomationRepository = Static<typeof AutomationRepository>;

/** What each conversation of an automation is created with. What is left out comes from the owner's settings. */
export const AutomationConversation = closedObject("AutomationConversation", {
  working_dir: orAbsent(Type.String({ minLength: 1, maxLength: 4096 }), {
    description: "The folder to work in; or send `repository`. A new folder unless given.",
  }),
  repository: orAbsent(ref(AutomationRepository)),
  worktree: flag(false, { description: "Work in a Git worktree of the repository of `working_dir`." }),
  agent_profile_id: orAbsent(Type.String({ format: "uuid" })),
  llm_profile: orAbsent(Type.String({ minLength: 1, maxLength: 200 }), {
    description: "The name of a stored model profile.",
  }),
  wall: orAbsent(ref(WallRequest)),
  max_budget_per_task: orAbsent(Type.Number({ minimum: 0, description: "US dollars." })),
  max_iterations: orAbsent(Type.Integer({ minimum: 1, maximum: 100_000 })),
  max_run_seconds: orAbsent(runSeconds),
  max_conversation_seconds: orAbsent(conversationSeconds),
  tags: Type.Optional(mapOf(Type.String({ maxLength: 256 }), { maxProperties: 50 })),
  confirmation_policy: orAbsent(ref(ConfirmationPolicyInput)),
});
export type AutomationConversation = Static<typeof AutomationConversation>;

/** What happens to actions that need an approval while nobody is there. */
export const UnattendedApprovals = closedObject("UnattendedApprovals", {
  on_ask: Type.Optional(
    choice(["reject", "wait"], {
      default: "reject",
      description: "With `wait` they wait for a person, and are rejected after `timeout_seconds`.",
    }),
  ),
  timeout_seconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 2_592_000, default: 3_600, description: "With `wait`." }),
  ),
  reviewer: orAbsent(ref(ReviewerPolicy)),
});
export type UnattendedApprovals = Static<typeof UnattendedApprovals>;

/** What happens at a due time while an earlier run is active. */
export const AutomationOverlap = closedObject("AutomationOverlap", {
  mode: Type.Optional(
    choice(["skip", "queue", "replace"], {
      default: "skip",
      description: "With `replace` the earlier run is interrupted.",
    }),
  ),
  max_queued: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 1,
      description: "With `queue`; further ones are skipped.",
    }),
  ),
});
export type AutomationOverlap = Static<typeof AutomationOverlap>;

/** Due times that passed while no server ran: at most so many of the newest start, the others are recorded as skipped in one run. */
export const AutomationCatchUp = closedObject("AutomationCatchUp", {
  max_runs: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, default: 1 })),
  max_age_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_592_000, default: 86_400 })),
});
export type AutomationCatchUp = Static<typeof AutomationCatchUp>;

const name = Type.String({ minLength: 1, maxLength: 200 });
const prompt = Type.String({
  minLength: 1,
  maxLength: 65_536,
  description:
    "The first message. `{{due_time}}`, `{{automation}}`, `{{origin}}` and, with webhooks and events, `{{payload}}` and `{{payload.a.b}}` are replaced by data.",
});
const instant = Type.String({ format: "date-time" });

/** Work that starts by itself. */
export const Automation = object("Automation", {
  id: Type.String({ format: "uuid" }),
  name,
  is_paused: Type.Boolean(),
  trigger: ref(AutomationTrigger),
  prompt,
  conversation: ref(AutomationConversation),
  approvals: ref(UnattendedApprovals),
  overlap: ref(AutomationOverlap),
  catch_up: ref(AutomationCatchUp),
  owner: Type.String({ description: "The user whose conversations its runs are." }),
  has_hook_secret: Type.Boolean(),
  next_due_at: nullable(instant, {
    description: "Null while it is paused, after a single due time, and for webhooks and events.",
  }),
  last_run: nullable(ref(AutomationRun), { description: "The newest one; null before the first." }),
  created_at: instant,
  updated_at: instant,
});
export type Automation = Static<typeof Automation>;

/** The only reply that contains a generated secret. */
export const CreatedAutomation = object("CreatedAutomation", {
  ...Automation.properties,
  hook_secret: nullable(Type.String(), {
    description: "The secret that the server chose for a webhook, told this once; null when there is none.",
  }),
});
export type CreatedAutomation = Static<typeof CreatedAutomation>;

export const AutomationPage = object("AutomationPage", {
  items: Type.Array(ref(Automation)),
  next_page_id: nullable(Type.String()),
});
export type AutomationPage = Static<typeof AutomationPage>;

const hookSecret = orAbsent(Type.String({ minLength: 16, maxLength: 500, writeOnly: true }), {
  description: "With the trigger `webhook`: the secret of the sender; the server chooses one unless given.",
});

export const CreateAutomationRequest = closedObject("CreateAutomationRequest", {
  name,
  trigger: ref(AutomationTrigger),
  prompt,
  is_paused: flag(false),
  conversation: Type.Optional(ref(AutomationConversation, { default: {} })),
  approvals: Type.Optional(ref(UnattendedApprovals, { default: {} })),
  overlap: Type.Optional(ref(AutomationOverlap, { default: {} })),
  catch_up: Type.Optional(ref(AutomationCatchUp, { default: {} })),
  hook_secret: hookSecret,
});
export type CreateAutomationRequest = Static<typeof CreateAutomationRequest>;

/** Each given field is replaced as a whole; what is left out stays as it is. */
export const ChangeAutomationRequest = closedObject("ChangeAutomationRequest", {
  name: Type.Optional(name),
  trigger: Type.Optional(ref(AutomationTrigger)),
  prompt: Type.Optional(prompt),
  conversation: Type.Optional(ref(AutomationConversation)),
  approvals: Type.Optional(ref(UnattendedApprovals)),
  overlap: Type.Optional(ref(AutomationOverlap)),
  catch_up: Type.Optional(ref(AutomationCatchUp)),
  hook_secret: hookSecret,
});
export type ChangeAutomationRequest = Static<typeof ChangeAutomationRequest>;
