import type { Journal } from "../journal/journal.ts";
import { callOf } from "../engine/commands/approvals.ts";
import { decideByRules } from "../security/rules/decide-by-rules.ts";
import { rulesFrom, type AnyRule, type RulePlaces } from "../security/rules/rule.ts";
import { showReading } from "../security/rules/show-reading.ts";
import { parseStored } from "../events/parse-stored.ts";

/** The past calls of the agent that the rules would have decided about; changes nothing. */
export async function tryRules(
  journal: Pick<Journal, "readKinds" | "lastSeq">,
  conversationId: string,
  rules: readonly AnyRule[],
  places: RulePlaces,
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
    const call = callOf({ event, meta }, places)!;
    const { decision, reading } = decideByRules(rulesFrom("conversation", rules), call);
    if (decision === null) return [];
    return [
      {
        action_id: event.id,
        tool_name: event.tool_name,
        action,
        security_risk: call.risk,
        effect: decision.effect,
        rule_index: decision.index,
        reading: reading === null ? null : showReading(reading),
        was_asked: meta.gate === "awaiting",
        was_rejected: rejected.has(event.id!),
      },
    ];
  });
  return { action_count: actions.length, matches };
}
