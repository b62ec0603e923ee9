import { randomUUID } from "node:crypto";
import type { controlRoutes } from "@convoke/protocol";
import { awaiting, describeApproval } from "../../../engine/commands/approvals.ts";
import type { Conversation } from "../../../engine/conversation.ts";
import { toConversationInfo, type ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import { readFinalResponse } from "../../../engine/commands/final-response.ts";
import { parseStored } from "../../../events/parse-stored.ts";
import { goalMessage } from "../../../engine/commands/goal.ts";
import { conversationMissing, refuseForAcp } from "../../../engine/refusals.ts";
import { conversationIdOf, openAsked, describeAsked, onAsked } from "../../../http/asked-conversation.ts";
import type { RouteRequest, Handlers } from "../../../http/mount.ts";
import { readQueue } from "../../../reading/read-queue.ts";
import { readSpend } from "../../../reading/spend.ts";
import { tryRules } from "../../../reading/try-rules.ts";
import { DamagedEventError } from "../../../journal/journal.ts";
import { requireUnscoped } from "../../../security/key-scope.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { storedId } from "../../../lib/uuid7.ts";
import { requireReviewer } from "../../../settings/with-defaults.ts";
import type { Caller } from "../../../security/caller.ts";
import { checkAnswers, readRules } from "./read-rules.ts";
import { networkHandlers } from "./network-routes.ts";
import { toolResultHandlers } from "./tool-result-routes.ts";
import { quotaHeaders } from "./quota-headers.ts";
import { checkApprovalPolicy, readTitle } from "./start-request.ts";
import { switchHandlers } from "./switch-routes.ts";
import { withoutUndefined } from "../../../lib/without-undefined.ts";
import { itemsOfPages } from "../../../lib/items-of-pages.ts";
import type { FaceDeps } from "../../face-deps.ts";

const success = { json: { success: true } };

/** Approvals, queue, limits and costs, which are extensions; forks and model switches, as in the reference. */
export function controlHandlers(deps: FaceDeps) {
  const { directory, journal, settings, ledger, profileHistory } = deps;
  const open = (request: RouteRequest): Promise<Conversation> => openAsked(directory, request);
  const describe = (request: RouteRequest): Promise<ConversationInfoSource> =>
    describeAsked(directory, request);

  async function approvalsOf(
    { id, state, config, wall }: ConversationInfoSource,
    caller: Caller,
  ): Promise<object[]> {
    const policy = config.approval_policy ?? null;
    const places = directory.rulesOf(caller).places(config);
    const surroundings = { state, policy, places, wall: wall?.kind ?? null };
    const ids = awaiting(state).map((action) => action.id);
    const stored = await journal.getEvents(id, ids);
    return stored.flatMap((item) => {
      if (item === null) return [];
      const { event, meta } = parseStored(id, item);
      if (event.kind !== "ActionEvent") return [];
      return [describeApproval(id, event, meta, surroundings)];
    });
  }

  /** In a list, a conversation with a damaged event is skipped; its own route reports the damage. */
  async function readableApprovals(described: ConversationInfoSource, caller: Caller): Promise<object[]> {
    try {
      return await approvalsOf(described, caller);
    } catch (error) {
      if (error instanceof DamagedEventError) return [];
      throw error;
    }
  }

  return {
    listApprovals: async ({ caller }) => {
      const items: object[] = [];
      const executionStatus = "waiting_for_confirmation";
      const query = { sort: "CREATED_AT", limit: 100, executionStatus } as const;
      for await (const described of itemsOfPages((pageId) => directory.search(caller, { ...query, pageId })))
        items.push(...(await readableApprovals(described, caller)));
      return { json: { items } };
    },

    getApprovals: async (request) => ({
      json: { items: await approvalsOf(await describe(request), request.caller) },
    }),

    ...networkHandlers(deps),

    answerApprovals: async (request) => {
      const { answers } = request.body;
      checkAnswers({ answers });
      // A rule of the user counts in all conversations.
      if (answers.some(({ scope }) => scope === "rule")) requireUnscoped(request.caller);
      await (await open(request)).answer(answers, request.caller.userId);
      return success;
    },

    setApprovalPolicy: async (request) => {
      const { policy } = request.body;
      checkApprovalPolicy(policy, ["body", "policy"]);
      const { settings: stored } = await settings.load(request.caller.userId);
      requireReviewer(policy ?? {}, stored, ["body", "policy"]);
      await (await open(request)).configuration.change({ approval_policy: policy ?? null });
      return success;
    },

    getAllowRules: async (request) => ({
      json: { rules: (await describe(request)).config.allow_rules ?? [] },
    }),

    setAllowRules: async (request) => {
      const rules = readRules(request);
      await (await open(request)).configuration.change({ allow_rules: rules });
      return success;
    },

    tryAllowRules: async (request) => {
      const rules = readRules(request);
      const { id, config } = await describe(request);
      return { json: await tryRules(journal, id, rules, directory.rulesOf(request.caller).places(config)) };
    },

    getQueue: async (request) => {
      const { id, state } = await describe(request);
      const loaded = directory.isLoaded(id) ? await open(request) : null;
      const current = loaded?.state ?? state;
      const { beingReadSeq = 0 } = loaded?.runner ?? {};
      return { json: { items: await readQueue(journal, id, current, beingReadSeq) } };
    },

    removeQueued: onAsked(directory, (conversation, { params: { event_id: id } }) =>
      conversation.dequeue(storedId(id)),
    ),

    ...toolResultHandlers(deps),

    setLimits: onAsked(directory, ({ configuration }, { body }) =>
      configuration.change(withoutUndefined(body)),
    ),

    getSpend: async (request) => {
      const { id, config } = await describe(request);
      return { json: await readSpend(journal, id, config) };
    },

    getUserSpend: async ({ caller, query }) => {
      const { days = 30 } = query;
      return { json: await ledger.report(caller.userId, days) };
    },

    setUserBudget: async ({ body, caller }) => {
      await ledger.setDayLimit(caller.userId, body.max_budget_per_day);
      return success;
    },

    getFinalResponse: async (request) => {
      const { id, state } = await describe(request);
      const response = await readFinalResponse(journal, id);
      return {
        json: withoutUndefined({ response, structured_output: state.structuredOutput ?? undefined }),
      };
    },

    forkConversation: async (request) => {
      const source = conversationIdOf(request);
      const body = request.body ?? {};
      const id = body.id ? storedId(body.id) : randomUUID();
      const { config } = await describe(request);
      refuseForAcp(config, "A fork");
      const isNew = await directory.fork(request.caller, source, {
        id,
        title: body.title ? readTitle(body.title) : null,
        tags: body.tags ?? null,
        resetMetrics: body.reset_metrics ?? true,
        fromEventId: body.from_event_id ?? null,
      });
      if (!isNew)
        throw new Fault("conflict", "conversation_exists", `There is a conversation ${id} already.`);
      await profileHistory.copyPins(request.caller.userId, source, id);
      const described = await directory.describe(request.caller, id);
      if (described === null) throw conversationMissing(id);
      const headers = await quotaHeaders(directory, request.caller);
      return { status: 201, json: toConversationInfo(described), headers };
    },

    navigateConversation: async (request) => {
      const { event_id: eventId = null } = request.body;
      await (await open(request)).navigate(eventId === null ? null : storedId(eventId));
      return { json: toConversationInfo(await describe(request)) };
    },

    approvePlan: onAsked(directory, (conversation, { body }) =>
      conversation.approvePlan(body?.message ?? null),
    ),

    startGoal: async (request) => {
      const { objective, max_iterations: rounds = 10 } = request.body;
      if (objective.trim() === "") throw invalidField(["body", "objective"], "Say what is to be reached.");
      const conversation = await open(request);
      refuseForAcp(conversation.configuration.config, "A goal, which a model of the conversation judges,");
      await conversation.send(goalMessage(objective, rounds));
      return success;
    },

    stopGoal: onAsked(directory, ({ goals }) => goals.stop()),

    resumeGoal: onAsked(directory, ({ goals }) => goals.resume()),

    ...switchHandlers(deps),

    switchAcpModel: onAsked(directory, (conversation, { body }) => conversation.switchAcpModel(body.model)),
  } satisfies Partial<Handlers<typeof controlRoutes>>;
}
