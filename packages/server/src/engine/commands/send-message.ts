import type { WhileRunning } from "@convoke/protocol";
import type { EventDraft, StampedEvent } from "../../events/event-draft.ts";
import type { Journal } from "../../journal/journal.ts";
import type { ConversationConfig } from "../conversation-config.ts";
import type { SendInput } from "../conversation-deps.ts";
import type { ConversationLog } from "../conversation-log.ts";
import type { Tools } from "../ports.ts";
import type { SharedParts } from "../shared-parts.ts";
import type { Admitted } from "../hook-gate.ts";
import type { Decision } from "./decide.ts";
import { heldKey, readHeld } from "./held-messages.ts";
import { decideMessage, isAtWork, refuseAtWork, type Work } from "./while-running.ts";
import { activateSkills, firstEvents } from "./first-events.ts";
import { newGoal } from "./goal.ts";
import { findSent, messageDigest } from "../inbox.ts";
import type { ToolBelt } from "../tool-belt.ts";
import { textOfMessage, type Titling } from "../titling.ts";

/** Stores the events of a message. */
type Commit = (
  decision: Decision,
  extra: Parameters<ConversationLog["append"]>[1],
) => Promise<StampedEvent[]>;

export type SendDeps = Pick<SharedParts, "clock" | "configuration" | "id" | "log"> & {
  readonly journal: Pick<Journal, "getInboxEntry">;
  readonly tools: Pick<Tools, "workspaceDir">;
  readonly titling: Pick<Titling, "begin" | "firstTitle">;
};

export type Prepared = {
  /** Null if the tools are unavailable: then the run adds the system prompt, and no skill is triggered. */
  readonly session: ToolBelt | null;
  /** Records and context of hooks for the message. */
  readonly admitted: Admitted;
  /** The work in progress; none unless given. */
  readonly work?: Work;
};

const noWork: Work = { isWorking: false, answerText: "", beingReadSeq: 0 };

export const noHooks: Admitted = { records: [], contexts: [] };

export type Sent = {
  /** Of the MessageEvent, or of the state update that stores the message until the run has ended. */
  readonly eventId: string;
  readonly isNew: boolean;
  /** True if it stopped the work in progress. */
  readonly isAbort: boolean;
};

/** Records a message, with the system prompt before the first one; call inside the mailbox. */
export async function sendMessage(
  input: SendInput,
  { session, admitted, work = noWork }: Prepared,
  deps: SendDeps,
  commit: Commit,
): Promise<Sent> {
  const { configuration, id, journal, log, titling } = deps;
  const { config } = configuration;
  const { message, clientMessageId: clientId } = input;
  const digest = clientId === undefined ? "" : messageDigest(message);
  const sent = clientId === undefined ? null : await findSent(journal, id, clientId, digest);
  if (sent !== null) return { eventId: sent.eventId, isNew: false, isAbort: false };
  const isFirst = log.state.lastUserMessageId === null;
  const { goal } = input;
  const mode = modeOf(input, config);
  const command = {
    message,
    wantsRun: input.wantsRun,
    goal: goal === undefined ? null : newGoal(log.state, goal.objective, goal.maxIterations),
    sender: input.sender ?? null,
    responseSchema: input.responseSchema ?? null,
    opening: () => (session === null ? [] : firstEvents(session, deps)),
    activation:
      session === null ? { names: [], texts: [] } : await activateSkills(session, () => log.view(), message),
    admitted,
    suffix: config.agent.agent_context?.user_message_suffix?.trim() ?? "",
    before: isAtWork(log.state) ? [] : await readHeld(log, log.state.held),
  };
  const decision = decideMessage(log.state, mode, command, work);
  const messageIndex = decision.drafts.findLastIndex(isMessage);
  const text = textOfMessage(message.content ?? []);
  const wantsTitle = config.autotitle !== false && config.requested?.autotitle !== false;
  const stamped = await commit(decision, {
    patch: isFirst && wantsTitle ? titling.firstTitle(text) : {},
    inbox: (ids) => (clientId === undefined ? undefined : { clientId, eventId: ids[messageIndex]!, digest }),
  });
  if (isFirst && config.autotitle === true) titling.begin(text);
  const { isAbort = false } = decision;
  return { eventId: stamped[messageIndex]!.record.id, isNew: true, isAbort };
}

/** Fails if the message is new and would be rejected because the agent works (409). */
export async function refuseIfRejected(
  { message, clientMessageId: clientId, whileRunning }: SendInput,
  { configuration, id, journal, log }: SendDeps,
): Promise<void> {
  if (modeOf({ whileRunning }, configuration.config) !== "reject" || !isAtWork(log.state)) return;
  const sent = clientId === undefined ? null : await findSent(journal, id, clientId, messageDigest(message));
  if (sent === null) refuseAtWork(log.state);
}

/** What a message does while the agent works; messages of the server itself are read at once. */
function modeOf(
  { whileRunning }: Pick<SendInput, "whileRunning">,
  { while_running: usual }: Pick<ConversationConfig, "while_running">,
): WhileRunning {
  return whileRunning === undefined ? "steer" : (whileRunning ?? usual ?? "steer");
}

function isMessage({ body, meta }: EventDraft): boolean {
  if (typeof body === "function") return false;
  if (body.kind === "MessageEvent") return body.source === "user";
  return body.kind === "ConversationStateUpdateEvent" && body.key === heldKey && meta?.held !== undefined;
}
