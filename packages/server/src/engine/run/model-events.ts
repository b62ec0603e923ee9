import { randomBytes } from "node:crypto";
import type { EventDraft } from "../../events/event-draft.ts";
import { formatInstant } from "../../lib/instant.ts";
import type { Adjustment, CompletionLog, ModelPart, ModelResponse } from "../../models/model.ts";
import { stateUpdate } from "../../events/state-update.ts";
import { warning } from "../../events/warning.ts";
import type { AwaitedServers } from "../tool-belt.ts";

type Retry = Extract<ModelPart, { type: "retry" }>;

/**
 * State field `model_retry`, while a retry is pending: the failed attempt, the reason, and the time of the next
 * request (P35). Valid until the field is null, and never beyond `until`.
 */
export function retryUpdate({ attempt, error, untilMs }: Retry): EventDraft {
  const until = untilMs === 0 ? null : formatInstant(Math.ceil(untilMs) * 1000);
  return stateUpdate("model_retry", { attempt, code: error.code, detail: error.detail, until });
}

/** The same field while tools are opening, with the code `MCPServersStarting` and no failed attempt. */
export function serversAwaited({ names, untilMs }: AwaitedServers): EventDraft {
  const detail = `Waiting for the MCP servers to start: ${names.join(", ")}. The agent continues without them if they take longer.`;
  const until = formatInstant(Math.ceil(untilMs) * 1000);
  return stateUpdate("model_retry", { attempt: 0, code: "MCPServersStarting", detail, until });
}

/** Token ids of a request and answer, if the server returned them. */
export function tokenEvents({ tokenIds }: ModelResponse): EventDraft[] {
  if (tokenIds === undefined) return [];
  return [
    {
      body: {
        kind: "TokenEvent",
        source: "agent",
        prompt_token_ids: [...tokenIds.prompt],
        response_token_ids: [...tokenIds.response],
      },
    },
  ];
}

/**
 * A feature that the provider refuses and the agent continues without; it ends no run. Logged once per conversation.
 */
export function adjustedEvents(
  adjustments: readonly Adjustment[],
  published: readonly string[],
): EventDraft[] {
  const news = new Map(adjustments.map(({ key, detail }) => [key, detail]));
  for (const key of published) news.delete(key);
  return [...news].map(([key, detail]) => ({
    ...warning({ code: "model_request_adjusted", detail }),
    meta: { adjusted: key },
  }));
}

/** One model call as logged with `log_completions`. */
export function completionLogEvent(log: CompletionLog): EventDraft {
  const name = log.model.replaceAll("/", "__");
  const at = (log.atMs / 1000).toFixed(3);
  const suffix = `${randomBytes(2).toString("hex")}${log.isError ? "-error" : ""}`;
  return {
    body: {
      kind: "LLMCompletionLogEvent",
      source: "environment",
      filename: `${name}-${at}-${suffix}.json`,
      log_data: JSON.stringify(log.data),
      model_name: log.model,
      usage_id: log.usageId,
    },
  };
}
