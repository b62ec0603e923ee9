import type { EventTrigger } from "@convoke/protocol";
import type { Automation } from "../automations/automation.ts";

/** What counts of a conversation for the triggers of others. */
export type ConversationFacts = {
  readonly id: string;
  readonly ownerId: string;
  readonly title: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly workingDir: string;
  /** True for a sub-agent. */
  readonly isTask: boolean;
  /** The automation that started it; null: none did. */
  readonly automationId: string | null;
  /** How many conversations it was started through. */
  readonly depth: number;
};

/** An event that can start something. */
export type NotedEvent = {
  readonly id: string;
  readonly kind: string;
  /** Of an event that says how the conversation stands from now on; null for all others. */
  readonly status: string | null;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly atMs: number;
};

export type EventAutomation = Automation & { readonly trigger: EventTrigger };

export function isOfEvents(automation: Automation): automation is EventAutomation {
  return automation.trigger.kind === "event";
}

/**
 * Whether an event of a conversation starts an automation. What automations have started counts for those that name the automation, and
 * never for the automation itself.
 */
export function isStartedBy(
  automation: EventAutomation,
  conversation: ConversationFacts,
  event: NotedEvent,
): boolean {
  const { trigger, ownerId, createdAtMs } = automation;
  if (ownerId !== conversation.ownerId || conversation.isTask || event.atMs < createdAtMs) return false;
  if (conversation.automationId === automation.id) return false;
  if ((trigger.automation_id ?? null) !== conversation.automationId) return false;
  if (trigger.conversation_id != null && trigger.conversation_id !== conversation.id) return false;
  if (trigger.tag != null && !hasTag(conversation.tags, trigger.tag)) return false;
  const isStatus =
    event.status !== null && (trigger.statuses ?? []).some((status) => status === event.status);
  return isStatus || (trigger.event_kinds ?? []).includes(event.kind);
}

function hasTag(tags: ConversationFacts["tags"], wanted: string): boolean {
  const at = wanted.indexOf(":");
  if (at < 0) return Object.hasOwn(tags, wanted);
  const name = wanted.slice(0, at);
  return Object.hasOwn(tags, name) && tags[name] === wanted.slice(at + 1);
}

/** A chain of three is allowed, as with agents that start conversations themselves. */
const maxDepth = 3;

/** Data for the prompt. */
export function eventPayload(conversation: ConversationFacts, event: NotedEvent) {
  return {
    conversation_id: conversation.id,
    title: conversation.title,
    tags: conversation.tags,
    working_dir: conversation.workingDir,
    event_id: event.id,
    event_kind: event.kind,
    status: event.status,
    timestamp: event.timestamp,
    depth: conversation.depth + 1,
  };
}

/** Why a conversation may not start another one; null: it may. */
export function refusalAt({ depth }: Pick<ConversationFacts, "depth">): string | null {
  return depth < maxDepth
    ? null
    : `This conversation was started through ${depth} others: a longer chain would never end.`;
}
