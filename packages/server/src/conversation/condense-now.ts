import type { ToolSession } from "@convoke/tool-host";
import { AgentRequests } from "../agent/agent-requests.ts";
import { condenserSettings } from "../agent/condense/condenser-settings.ts";
import type { Condensed, Condensing } from "../agent/condense/condensing.ts";
import type { ConversationConfig } from "./conversation-config.ts";
import type { ConversationLog } from "./conversation-log.ts";
import { nothingToCondense, noCondenser } from "./refusals.ts";
import { addUsage } from "./stats.ts";

export type CondenseDeps = {
  readonly conversationId: string;
  readonly log: ConversationLog;
  readonly post: <Result>(job: () => Promise<Result> | Result) => Promise<Result>;
  readonly condensing: Condensing;
  readonly config: () => ConversationConfig;
  /** A run in progress takes the request up before it asks the model again. */
  readonly isRunning: () => boolean;
};

/**
 * Has the oldest part of the conversation replaced by a summary, without a step of the agent (L23.3): resolves when that is
 * done, or when a run has it before it. Fails with `no_condenser` or `nothing_to_condense`.
 */
export async function condenseNow(deps: CondenseDeps, session: ToolSession): Promise<void> {
  const { condensing, config, conversationId, isRunning, log, post } = deps;
  const begun = await post(async () => {
    const { agent } = config();
    const settings = condenserSettings(agent);
    if (settings === null) throw noCondenser(conversationId);
    const view = await log.view();
    const prepared = new AgentRequests().prepare({
      view,
      sawSeq: log.state.lastSeq,
      tools: session.tools,
      model: agent.llm.model ?? "",
      cacheKey: conversationId,
    });
    const situation = { ...prepared, settings, view };
    if (!condensing.canForget(situation)) throw nothingToCondense(conversationId);
    await log.append([{ body: { kind: "CondensationRequest", source: "environment" } }]);
    return isRunning() ? null : { room: condensing.before({ ...situation, view: await log.view() }) };
  });
  const condensed = await begun?.room;
  if (condensed) await post(() => log.append(condensedDrafts(condensed, log)));
}

/** A condensation with what it cost. */
export function condensedDrafts({ draft, bill }: Condensed, { state }: Pick<ConversationLog, "state">) {
  return bill === null ? [draft] : [draft, addUsage(state.stats, bill.llm, bill.response)];
}
