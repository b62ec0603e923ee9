import type { ConversationSpend, MetricsSnapshot } from "@convoke/protocol";
import type { Journal } from "../journal/journal.ts";
import { isWhole } from "../journal/shown-event.ts";
import type { ConversationConfig } from "../engine/conversation-config.ts";

type Stats = Readonly<Record<string, MetricsSnapshot | undefined>>;

/** The maximum of listed calls; sums include all. */
const maxCalls = 1000;

/** What a conversation has cost, read from its log: each published total less the one before is one call (P48). */
export async function readSpend(
  journal: Pick<Journal, "readKinds" | "lastSeq">,
  conversationId: string,
  config: ConversationConfig,
): Promise<ConversationSpend> {
  const stored = await journal.readKinds(
    conversationId,
    ["ConversationStateUpdateEvent"],
    1,
    await journal.lastSeq(conversationId),
  );
  let calls: ConversationSpend["calls"] = [];
  let days: Record<string, number> = {};
  let before: Stats = {};
  let cost = 0;
  for (const { json } of stored) {
    if (!json.includes('"key":"stats"') || !isWhole(json)) continue;
    const event = JSON.parse(json) as { timestamp?: string; value?: { usage_to_metrics?: Stats } };
    const now = event.value?.usage_to_metrics;
    // Damaged events are skipped: each total contains the earlier ones.
    if (now === undefined || event.timestamp === undefined) continue;
    // A fork starts at zero: earlier calls were paid by its origin.
    if (Object.keys(now).length === 0) [calls, days, cost] = [[], {}, 0];
    for (const [usageId, metrics] of Object.entries(now)) {
      if (metrics === undefined) continue;
      const call = callOf(usageId, metrics, before[usageId], event.timestamp);
      if (call === null) continue;
      cost += call.cost;
      const day = event.timestamp.slice(0, 10);
      days[day] = (days[day] ?? 0) + call.cost;
      calls.push(call);
    }
    before = now;
  }
  return {
    cost,
    max_budget_per_task: config.max_budget_per_task ?? null,
    days,
    calls: calls.slice(-maxCalls),
  };
}

function callOf(
  usageId: string,
  metrics: MetricsSnapshot,
  before: MetricsSnapshot | undefined,
  timestamp: string,
): ConversationSpend["calls"][number] | null {
  const tokens = metrics.accumulated_token_usage;
  const earlier = before?.accumulated_token_usage;
  const prompt = (tokens?.prompt_tokens ?? 0) - (earlier?.prompt_tokens ?? 0);
  const completion = (tokens?.completion_tokens ?? 0) - (earlier?.completion_tokens ?? 0);
  const cost = (metrics.accumulated_cost ?? 0) - (before?.accumulated_cost ?? 0);
  if (prompt === 0 && completion === 0 && cost === 0) return null;
  return {
    timestamp,
    usage_id: usageId,
    model: tokens?.model ?? metrics.model_name ?? "",
    cost,
    prompt_tokens: prompt,
    completion_tokens: completion,
  };
}
