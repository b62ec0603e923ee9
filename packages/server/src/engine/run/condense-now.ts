import { AgentRequests } from "../../agent/agent-requests.ts";
import { condenserSettings } from "../../agent/condense/condenser-settings.ts";
import type { Condensed, Condensing } from "../../agent/condense/condensing.ts";
import { condensedView, idInLog, type ViewEvent } from "../../agent/history-view.ts";
import { remainingRanges } from "../../agent/remaining-ranges.ts";
import { condenserMessages } from "../../agent/replay/replay-log.ts";
import { RequestHash } from "../../agent/request-hash.ts";
import type { EventBody, EventDraft } from "../../events/event-draft.ts";
import { readsPrediction } from "../../security/analyzers/analyzer.ts";
import type { ConversationLog } from "../conversation-log.ts";
import { nothingToCondense, noCondenser } from "../refusals.ts";
import type { SharedParts } from "../shared-parts.ts";
import type { ToolBelt } from "../tool-belt.ts";

export type CondenseDeps = Pick<SharedParts, "configuration" | "id" | "log" | "queue"> & {
  readonly condensing: Condensing;
  /** A run in progress handles the request before its next model call. */
  readonly runner: { readonly isAlive: boolean };
};

/**
 * Replaces the oldest part of the conversation by a summary, without a step of the agent (L23.3). Resolves when it
 * is done, by this call or by a run. Throws `no_condenser` or `nothing_to_condense`.
 */
export async function condenseNow(deps: CondenseDeps, session: Pick<ToolBelt, "tools">): Promise<void> {
  const { condensing, configuration, id, log, queue, runner } = deps;
  const begun = await queue.post(async () => {
    const { agent, security_analyzer: analyzer } = configuration.config;
    const settings = condenserSettings(agent);
    if (settings === null) throw noCondenser(id);
    const view = await log.view();
    const prepared = new AgentRequests().prepare({
      view,
      sawSeq: log.state.lastSeq,
      tools: session.tools,
      asksForRisk: readsPrediction(analyzer),
      model: agent.llm.model ?? "",
      cacheKey: id,
    });
    const situation = { ...prepared, settings, view };
    if (!condensing.canForget(situation)) throw nothingToCondense(id);
    await log.append([{ body: { kind: "CondensationRequest", source: "environment" } }]);
    const branch = log.state.navigations;
    return runner.isAlive
      ? null
      : { branch, room: condensing.before({ ...situation, view: await log.view() }) };
  });
  const condensed = await begun?.room;
  if (!condensed) return;
  await queue.post(async () => {
    // The branch was left meanwhile.
    if (log.state.navigations !== begun?.branch) return;
    const drafts = await condensedDrafts(condensed, log);
    if (drafts.length > 0) await log.append(drafts);
  });
}

/**
 * A condensation with the events that the view keeps after it, and the event of its summary, stored in one commit.
 * Empty if the log no longer matches: a run and a client may each request a summary, and the first one wins; or an
 * item was repaired, and the summary describes content that the model no longer reads.
 */
export async function condensedDrafts(
  draft: Condensed,
  log: Pick<ConversationLog, "state" | "view">,
): Promise<EventDraft[]> {
  const { body } = draft;
  if (typeof body === "function" || body.kind !== "Condensation") return [draft];
  const view = await log.view();
  const there = new Set(condensedView(view).map(({ event }) => idInLog(event)));
  if (!(body.forgotten_event_ids ?? []).every((id) => there.has(id))) return [];
  if (!leadsTo(view, draft, body)) return [];
  const { lastSeq, viewStart } = log.state;
  const readFrom = [...viewStart.kept, [viewStart.fromSeq, lastSeq] as const];
  const keeps = remainingRanges(view, body, lastSeq + 1, readFrom);
  const condensation = keeps === null ? draft : { ...draft, meta: { ...draft.meta, keeps } };
  const { summary } = body;
  if (typeof summary !== "string") return [condensation];
  return [condensation, { body: { kind: "CondensationSummaryEvent", source: "environment", summary } }];
}

/** Whether a replay can rebuild the request of the summary. A summary without a model had none. */
function leadsTo(
  view: readonly ViewEvent[],
  { meta = {} }: Condensed,
  body: EventBody & { readonly kind: "Condensation" },
): boolean {
  const { request, shownCharacters = 0 } = meta;
  if (request === undefined) return true;
  const messages = condenserMessages(view, body.forgotten_event_ids ?? [], shownCharacters);
  return new RequestHash().messages(messages) === request.messages;
}
