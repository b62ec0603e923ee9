import type { ModelMessage } from "../models/model.ts";

/** Whether `messages` are those of `before` with others at their end, judged by the first and the last one of `before`. */
export function isContinued(before: readonly ModelMessage[], messages: readonly ModelMessage[]): boolean {
  const last = before.length - 1;
  return last >= 0 && messages[0] === before[0] && messages[last] === before[last];
}
