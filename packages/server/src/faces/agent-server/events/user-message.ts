import type { Message, SendMessageRequest } from "@convoke/protocol";
import { invalidField } from "../../../lib/fault.ts";

/** The message in a request; only users speak through these routes. `loc` leads to where it stands. */
export function toUserMessage(
  { role = "user", content = [] }: Pick<SendMessageRequest, "role" | "content">,
  loc: readonly string[],
): Message {
  if (role === "user") return { role, content, thinking_blocks: [] };
  throw invalidField(
    [...loc, "role"],
    `Messages of role "${role}" cannot be sent, only those of role "user".`,
  );
}
