import type {
  Automation,
  AutomationConversation,
  ChangeAutomationRequest,
  ConfirmationPolicyInput,
  CreateAutomationRequest,
  UnattendedApprovals,
} from "@convoke/protocol";
import { repositoryOf } from "../home/fetch-repository.ts";
import { fromTrigger, newStart, toTrigger, type StartDraft } from "./start-choice.ts";

export type AskChoice = "" | "never" | "always";
export type NetworkChoice = "" | "none" | "registries" | "all" | "stored";
export type OverlapChoice = "skip" | "queue" | "replace";

/** The whole form. An empty text means: as the settings say. */
export type AutomationDraft = {
  readonly name: string;
  readonly prompt: string;
  readonly start: StartDraft;
  /** A folder of the server's machine, or the URL of a Git repository. */
  readonly place: string;
  readonly branch: string;
  readonly worktree: boolean;
  readonly profile: string;
  /** US dollars. */
  readonly budget: string;
  readonly maxMinutes: string;
  readonly network: NetworkChoice;
  readonly ask: AskChoice;
  readonly onAsk: "reject" | "wait";
  readonly waitHours: string;
  readonly overlap: OverlapChoice;
  readonly maxQueued: string;
  /** How many missed due times are started. */
  readonly catchUp: string;
};

export function newDraft(now: Date, timeZone: string): AutomationDraft {
  return {
    name: "",
    prompt: "",
    start: newStart(now, timeZone),
    place: "",
    branch: "",
    worktree: false,
    profile: "",
    budget: "",
    maxMinutes: "",
    network: "",
    ask: "",
    onAsk: "reject",
    waitHours: "1",
    overlap: "skip",
    maxQueued: "1",
    catchUp: "1",
  };
}

export function fromAutomation(automation: Automation, now: Date, timeZone: string): AutomationDraft {
  const { conversation, approvals, overlap, catch_up: catchUp } = automation;
  const { network } = conversation.wall ?? {};
  return {
    name: automation.name,
    prompt: automation.prompt,
    start: fromTrigger(automation.trigger, now, timeZone),
    place: conversation.repository?.url ?? conversation.working_dir ?? "",
    branch: conversation.repository?.ref ?? "",
    worktree: conversation.worktree ?? false,
    profile: conversation.llm_profile ?? "",
    budget: shown(conversation.max_budget_per_task),
    maxMinutes: shown(conversation.max_run_seconds, 60),
    network: network === undefined ? "" : typeof network === "string" ? network : "stored",
    ask: askOf(conversation.confirmation_policy?.kind),
    onAsk: approvals.on_ask ?? "reject",
    waitHours: shown(approvals.timeout_seconds ?? 3_600, 3_600),
    overlap: overlap.mode ?? "skip",
    maxQueued: shown(overlap.max_queued ?? 1),
    catchUp: shown(catchUp.max_runs ?? 1),
  };
}

/** What the form says, on top of what was stored and the form does not show. */
export function toRequest(draft: AutomationDraft, stored: Automation | null): CreateAutomationRequest {
  return {
    name: draft.name.trim(),
    prompt: draft.prompt,
    trigger: toTrigger(draft.start),
    conversation: conversationOf(draft, stored?.conversation ?? {}),
    approvals: approvalsOf(draft, stored?.approvals ?? {}),
    overlap: {
      ...stored?.overlap,
      mode: draft.overlap,
      ...(draft.overlap === "queue" ? { max_queued: Number(draft.maxQueued) } : {}),
    },
    catch_up: { ...stored?.catch_up, max_runs: Number(draft.catchUp) },
  };
}

/** Only what differs: a trigger that was sent again would count from now on. */
export function toChange(
  before: AutomationDraft,
  after: AutomationDraft,
  stored: Automation,
): ChangeAutomationRequest {
  const [old, wanted] = [toRequest(before, stored), toRequest(after, stored)];
  const changed = Object.entries(wanted).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name as keyof CreateAutomationRequest]),
  );
  return Object.fromEntries(changed);
}

function conversationOf(draft: AutomationDraft, stored: AutomationConversation): AutomationConversation {
  const {
    working_dir: _folder,
    repository: _repository,
    worktree: _worktree,
    llm_profile: _profile,
    max_budget_per_task: _budget,
    max_run_seconds: _seconds,
    wall,
    confirmation_policy: policy,
    ...rest
  } = stored;
  const { network: _network, ...restOfWall } = wall ?? {};
  const network =
    draft.network === "" ? {} : { network: draft.network === "stored" ? wall?.network : draft.network };
  const newWall = { ...restOfWall, ...network };
  return {
    ...rest,
    ...placeOf(draft),
    ...(draft.profile === "" ? {} : { llm_profile: draft.profile }),
    ...(draft.budget.trim() === "" ? {} : { max_budget_per_task: Number(draft.budget) }),
    ...(draft.maxMinutes.trim() === "" ? {} : { max_run_seconds: Number(draft.maxMinutes) * 60 }),
    ...(Object.keys(newWall).length === 0 ? {} : { wall: newWall as NonNullable<typeof wall> }),
    ...policyOf(draft.ask, policy ?? null),
  };
}

function placeOf({ place, branch, worktree }: AutomationDraft): AutomationConversation {
  const url = repositoryOf(place);
  if (url !== null) return { repository: { url, ...(branch.trim() === "" ? {} : { ref: branch.trim() }) } };
  const folder = place.trim();
  return folder === "" ? {} : { working_dir: folder, ...(worktree ? { worktree } : {}) };
}

/** A policy that the form cannot say stays, unless another one is chosen. */
function policyOf(ask: AskChoice, stored: ConfirmationPolicyInput | null): AutomationConversation {
  if (ask === "never") return { confirmation_policy: { kind: "NeverConfirm" } };
  if (ask === "always") return { confirmation_policy: { kind: "AlwaysConfirm" } };
  return stored !== null && askOf(stored.kind) === "" ? { confirmation_policy: stored } : {};
}

function askOf(kind: string | undefined): AskChoice {
  if (kind === "NeverConfirm") return "never";
  return kind === "AlwaysConfirm" ? "always" : "";
}

function approvalsOf(draft: AutomationDraft, stored: UnattendedApprovals): UnattendedApprovals {
  const { timeout_seconds: _timeout, ...rest } = stored;
  return {
    ...rest,
    on_ask: draft.onAsk,
    ...(draft.onAsk === "wait" ? { timeout_seconds: Math.round(Number(draft.waitHours) * 3_600) } : {}),
  };
}

function shown(value: number | null | undefined, unit = 1): string {
  return value == null ? "" : String(value / unit);
}
