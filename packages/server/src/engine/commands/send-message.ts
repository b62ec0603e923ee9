import type { StampedEvent } from "../../events/event-draft.ts";
import type { Journal } from "../../journal/journal.ts";
import type { SendInput } from "../conversation-deps.ts";
import type { ConversationLog } from "../conversation-log.ts";
import type { Tools } from "../ports.ts";
import type { SharedParts } from "../shared-parts.ts";
import type { Admitted } from "../hook-gate.ts";
import { decideSend, type Decision } from "./decide.ts";
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
};

export const noHooks: Admitted = { records: [], contexts: [] };

export type Sent = { readonly eventId: string; readonly isNew: boolean };

/** Records a message, with the system prompt before the first one; call inside the mailbox. */
export async function sendMessage(
  input: SendInput,
  { session, admitted }: Prepared,
  deps: SendDeps,
  commit: Commit,
): Promise<Sent> {
  const { configuration, id, journal, log, titling } = deps;
  const { config } = configuration;
  const { message, clientMessageId: clientId } = input;
  const digest = clientId === undefined ? "" : messageDigest(message);
  const sent = clientId === undefined ? null : await findSent(journal, id, clientId, digest);
  if (sent !== null) return { eventId: sent.eventId, isNew: false };
  const isFirst = log.state.lastUserMessageId === null;
  const { goal } = input;
  const decision = decideSend(log.state, {
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
  });
  const messageIndex = decision.drafts.findIndex(
    ({ body }) => typeof body !== "function" && body.kind === "MessageEvent",
  );
  const text = textOfMessage(message.content ?? []);
  const wantsTitle = config.autotitle !== false && config.requested?.autotitle !== false;
  const stamped = await commit(decision, {
    patch: isFirst && wantsTitle ? titling.firstTitle(text) : {},
    inbox: (ids) => (clientId === undefined ? undefined : { clientId, eventId: ids[messageIndex]!, digest }),
  });
  if (isFirst && config.autotitle === true) titling.begin(text);
  return { eventId: stamped[messageIndex]!.record.id, isNew: true };
}
