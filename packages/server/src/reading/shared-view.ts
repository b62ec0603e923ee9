import type { ConversationInfo } from "@convoke/protocol";
import { objectOr, type JsonObject } from "../lib/json-object.ts";
import type { Caller, Share } from "../security/caller.ts";

/** Whether an event is after the last one that the caller's share link shows. */
export function isBeyondShare({ share }: Pick<Caller, "share">, seq: number): boolean {
  return seq > (share?.upTo?.seq ?? Infinity);
}

/**
 * What a reader needs of a conversation. Without secrets, hooks and the configuration of the agent; a link that ends at
 * an event shows no state, because it is that of later events.
 */
export function toSharedInfo(info: ConversationInfo, { expiresAtMs, upTo }: Share): object {
  const { id, title, created_at: createdAt } = info;
  return {
    id,
    title,
    created_at: createdAt,
    ...toSharedState(info, upTo !== null),
    ...(upTo === null ? { updated_at: info.updated_at, metrics: info.metrics } : {}),
    share: {
      expires_at: new Date(expiresAtMs ?? 0).toISOString(),
      up_to_event_id: upTo?.eventId ?? null,
    },
  };
}

/**
 * An event or a frame of a socket as a share link shows it: changes of the state without what a reader does not need, a sentence in
 * the place of the system prompt unless the link shows it.
 */
export function toSharedEvent(json: string, { hasSystemPrompt }: Pick<Share, "hasSystemPrompt">): string {
  if (!hasSystemPrompt && json.includes('"SystemPromptEvent"')) return withoutPrompt(json);
  if (!json.includes('"ConversationStateUpdateEvent"')) return json;
  const event = objectOr(JSON.parse(json));
  if (event["kind"] !== "ConversationStateUpdateEvent") return json;
  const { key, value } = event;
  const whole = objectOr(value);
  if (key === "full_state") {
    const { id, version, head_is_empty: isEmpty } = whole;
    return JSON.stringify({
      ...event,
      value: { id, ...toSharedState(whole, false), head_is_empty: isEmpty, version },
    });
  }
  if (key === "agent") return JSON.stringify({ ...event, value: toSharedAgent(whole) });
  if (key === "settings_used") return JSON.stringify({ ...event, value: null });
  if (key === "secret_registry") return JSON.stringify({ ...event, value: { secret_sources: {} } });
  return json;
}

const hiddenPrompt = "The link does not show the system prompt.";

/** The event stays, so that pages, counts and places are those of the log. */
function withoutPrompt(json: string): string {
  const { dynamic_context: _, ...event } = objectOr(JSON.parse(json));
  if (event["kind"] !== "SystemPromptEvent") return json;
  return JSON.stringify({ ...event, system_prompt: { type: "text", text: hiddenPrompt }, tools: [] });
}

function toSharedState(state: JsonObject, endsAtEvent: boolean): object {
  const { working_dir: workingDir = "" } = objectOr(state["workspace"]);
  const { execution_status: status, stats, leaf_event_id: leaf } = state;
  return {
    agent: toSharedAgent(state["agent"]),
    workspace: { kind: "LocalWorkspace", working_dir: workingDir },
    ...(endsAtEvent
      ? {}
      : { execution_status: status, stats, ...(leaf === undefined ? {} : { leaf_event_id: leaf }) }),
  };
}

function toSharedAgent(agent: unknown): object {
  const { kind, llm } = objectOr(agent);
  const { model = "" } = objectOr(llm);
  return { kind, llm: { model, is_subscription: false } };
}
