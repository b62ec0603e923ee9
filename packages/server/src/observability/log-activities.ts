import type { Logger } from "../lib/logger.ts";
import type { Activity, Ending, Sink } from "./observer.ts";

/** One line for each activity that has ended: routes as templates, no addresses, no contents, so no keys. */
export function logActivities(logger: Logger): Sink {
  return {
    ended({ activity, ids }, { error, status, spent }, durationMs) {
      const fields = {
        ...ids,
        ...factsOf(activity),
        status,
        ...(spent === undefined ? {} : tokensOf(spent)),
        error: error ?? undefined,
        ms: Math.round(durationMs * 10) / 10,
      };
      logger.info(fields, activity.kind);
    },
  };
}

function factsOf(activity: Activity): Readonly<Record<string, string>> {
  switch (activity.kind) {
    case "request":
      return { method: activity.method, route: activity.route };
    case "run":
      return {};
    case "model call":
      return { model: activity.model };
    case "tool":
      return { tool: activity.tool };
  }
}

function tokensOf(spent: NonNullable<Ending["spent"]>): Readonly<Record<string, number>> {
  const sum = (read: (usage: (typeof spent)[number]["usage"]) => number): number =>
    spent.reduce((total, { usage }) => total + read(usage), 0);
  return {
    promptTokens: sum((usage) => usage.promptTokens),
    completionTokens: sum((usage) => usage.completionTokens),
    dollars: sum((usage) => usage.cost ?? 0),
  };
}
