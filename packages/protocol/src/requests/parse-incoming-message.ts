import type { Checked, Location, Validator } from "../validate.ts";
import { SendMessageRequest } from "./send-message.ts";
import { tolerateMessage } from "./tolerate.ts";

/** Parses a message from a request or a socket; `content` may also be plain text. */
export function parseIncomingMessage(
  validator: Validator,
  value: unknown,
  prefix: Location = [],
): Checked<SendMessageRequest> {
  return validator.check(SendMessageRequest, tolerateMessage(value), prefix);
}
