import type { StampedEvent } from "../../events/event-draft.ts";
import type { ConversationConfig, ConversationSecrets } from "../conversation-config.ts";
import type { ConversationDeps, SendInput } from "../conversation-deps.ts";
import type { ConversationLog } from "../conversation-log.ts";
import { decideSend, type Admitted, type Decision } from "./decide.ts";
import { activateSkills, firstEvents } from "../run/first-events.ts";
import { newGoal } from "./goal.ts";
import { findSent, messageDigest } from "../inbox.ts";
import type { ToolBelt } from "../tool-belt.ts";
import { textOfMessage, type Titling } from "../titling.ts";

export type SendDeps = Pick<ConversationDeps, "id" | "journal" | "log" | "workspaceDir" | "nowMs"> & {
  /** Null where the tools are not there now: then the run brings the system prompt, and no skill is brought up. */
  readonly session: ToolBelt | null;
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  readonly titling: Pick<Titling, "begin" | "firstTitle">;
  /** What hooks have to say about the message. */
  readonly admitted?: Admitted;
  readonly commit: (
    decision: Decision,
    extra: Parameters<ConversationLog["append"]>[1],
  ) => Promise<StampedEvent[]>;
};

export type Sent = { readonly eventId: string; readonly isNew: boolean };

/** Records a message, with the system prompt before the first one; to be called inside the mailbox. */
export async function sendMessage(input: SendInput, deps: SendDeps): Promise<Sent> {
  const { admitted, config, journal, log, session } = deps;
  const { message, clientMessageId: clientId } = input;
  const digest = clientId === undefined ? "" : messageDigest(message);
  const sent = clientId === undefined ? null : await findSent(journal, deps.id, clientId, digest);
  if (sent !== null) return { eventId: sent.eventId, isNew: false };
  const isFirst = log.state.lastUserMessageId === null;
  const decision = decideSend(log.state, {
    message,
    wantsRun: input.wantsRun,
    ...(input.goal === undefined
      ? {}
      : { goal: newGoal(log.state, input.goal.objective, input.goal.maxIterations) }),
    sender: input.sender ?? null,
    opening: () => (session === null ? [] : firstEvents({ ...deps, session })),
    ...(session === null ? {} : { activation: await activateSkills(session, () => log.view(), message) }),
    ...(admitted === undefined ? {} : { admitted }),
    suffix: config.agent.agent_context?.user_message_suffix?.trim() ?? "",
  });
  const messageIndex = decision.drafts.findIndex(
    ({ body }) => typeof body !== "function" && body.kind === "MessageEvent",
  );
  const text = textOfMessage(message.content ?? []);
  const wantsTitle = config.autotitle !== false && config.requested?.autotitle !== false;
  const stamped = await deps.commit(decision, {
    ...(isFirst && wantsTitle ? { patch: deps.titling.firstTitle(text) } : {}),
    ...(clientId === undefined
      ? {}
      : { inbox: (ids: string[]) => ({ clientId, eventId: ids[messageIndex]!, digest }) }),
  });
  if (isFirst && config.autotitle === true) deps.titling.begin(text);
  return { eventId: stamped[messageIndex]!.record.id, isNew: true };
}
