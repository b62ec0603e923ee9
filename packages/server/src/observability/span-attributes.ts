import type { Attributes } from "@opentelemetry/api";
import type { Activity, Begun, Ending } from "./observer.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";

/** Names and attributes follow the semantic conventions of OpenTelemetry for HTTP and for generative AI. */
export function spanNameOf(activity: Activity): string {
  switch (activity.kind) {
    case "request":
      return `${activity.method} ${activity.route}`;
    case "run":
      return "invoke_agent";
    case "model call":
      return `chat ${activity.model}`;
    case "tool":
      return `execute_tool ${activity.tool}`;
  }
}

/** What is known when it begins. Content only where it is wanted. */
export function attributesAt({ activity, ids }: Begun, hasContent: boolean): Attributes {
  const conversation = ids["conversation"];
  const joined = conversation === undefined ? {} : { "gen_ai.conversation.id": conversation };
  switch (activity.kind) {
    case "request":
      return {
        "http.request.method": activity.method,
        "http.route": activity.route,
        "convoke.request.id": activity.requestId,
      };
    case "run":
      return { ...joined, "gen_ai.operation.name": "invoke_agent", "convoke.run.id": ids["run"] };
    case "model call":
      return {
        ...joined,
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": activity.model.split("/", 1)[0],
        "gen_ai.request.model": activity.model,
        "convoke.model_call.id": ids["modelCall"],
        ...withoutUndefined({ "gen_ai.input.messages": hasContent ? activity.content() : undefined }),
      };
    case "tool":
      return {
        ...joined,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": activity.tool,
        "gen_ai.tool.type": "function",
        "convoke.action.id": activity.actionId,
      };
  }
}

/**
 * The attributes at its end. Tokens are those of all attempts, as in the ledger; the answer is that of the last
 * attempt.
 */
export function attributesOf({ error, status, spent = [] }: Ending): Attributes {
  const answer = spent.at(-1);
  const sum = (read: (usage: NonNullable<typeof answer>["usage"]) => number): number =>
    spent.reduce((total, { usage }) => total + read(usage), 0);
  return {
    ...withoutUndefined({ "error.type": error ?? undefined, "http.response.status_code": status }),
    ...(answer === undefined
      ? {}
      : {
          "gen_ai.response.id": answer.id,
          "gen_ai.response.model": answer.model,
          "gen_ai.usage.input_tokens": sum((usage) => usage.promptTokens),
          "gen_ai.usage.output_tokens": sum((usage) => usage.completionTokens),
          "gen_ai.usage.cache_read.input_tokens": sum((usage) => usage.cacheReadTokens),
          "gen_ai.usage.cache_creation.input_tokens": sum((usage) => usage.cacheWriteTokens),
          "convoke.usage.cost_dollars": sum((usage) => usage.cost ?? 0),
        }),
  };
}
