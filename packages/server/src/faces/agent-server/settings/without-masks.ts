import type { StartConversationRequest } from "@convoke/protocol";
import type { Warning } from "../../../events/warning.ts";
import { unmasked } from "../../../engine/masked-values.ts";
import { withoutUndefined } from "../../../lib/without-undefined.ts";

/**
 * Removes masks of secrets that this server does not have from a create request: clients send masked values that they
 * read elsewhere, the SDK its built-in sub-agents. Each becomes an empty value, and a warning in the conversation names
 * it.
 */
export function withoutMasks(body: StartConversationRequest): {
  readonly body: StartConversationRequest;
  readonly warnings: readonly Warning[];
} {
  const { agent, agent_definitions: definitions, secrets } = body;
  const secretive = withoutUndefined({
    agent,
    agent_definitions: definitions,
    secrets,
  });
  const { value, warnings } = unmasked(secretive, []);
  return { body: { ...body, ...value }, warnings };
}
