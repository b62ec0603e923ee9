import type { Logger } from "../lib/logger.ts";
import type { Observer } from "./observer.ts";

/** A logger whose lines carry the ids of what they were written in: request, conversation, run, model call, action. */
export function createJoinedLogger(logger: Logger, observer: Observer): Logger {
  return {
    info: (fields, message) => logger.info({ ...observer.ids, ...fields }, message),
    warn: (fields, message) => logger.warn({ ...observer.ids, ...fields }, message),
    error: (fields, message) => logger.error({ ...observer.ids, ...fields }, message),
  };
}
