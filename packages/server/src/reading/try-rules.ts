import type { Journal } from "../journal/journal.ts";
import { isAllowed, type AllowRule } from "../security/allow-rules.ts";
import { parseStored } from "../events/parse-stored.ts";

/** The past calls of the agent that the rules would have allowed; changes nothing. */
export async function tryRules(
  journal: Pick<Journal, "readKinds" | "lastSeq">,
  conversationId: string,
  rules: readonly AllowRule[],
): Promise<object> {
  const end = await journal.lastSeq(conversationId);
  const stored = await journal.readKinds(conversationId, ["ActionEvent", "UserRejectObservation"], 1, end);
  const read = stored.map((item) => parseStored(conversationId, item));
  const rejected = new Set(
    read.flatMap(({ event }) => (event.kind === "UserRejectObservation" ? [event.action_id] : [])),
  );
  const actions = read.flatMap(({ event, meta }) =>
    event.kind === "ActionEvent" && event.action ? [{ event, action: event.action, meta }] : [],
  );
  const matches = actions.flatMap(({ event, action, meta }) => {
    const risk = meta.verdict?.risk ?? event.security_risk ?? "UNKNOWN";
    if (!isAllowed(rules, { toolName: event.tool_name, action, risk })) return [];
    return [
      {
        action_id: event.id,
        tool_name: event.tool_name,
        action,
        security_risk: risk,
        was_asked: meta.gate === "awaiting",
        was_rejected: rejected.has(event.id!),
      },
    ];
  });
  return { action_count: actions.length, matches };
}
