import type { ConversationInfo, agentServerRoutes } from "@convoke/protocol";
import type { Conversation } from "../../../engine/conversation.ts";
import { conversationIdOf, openAsked, describeAsked, onAsked } from "../../../http/asked-conversation.ts";
import type { RouteRequest, Handlers } from "../../../http/mount.ts";
import { checkSecretSources } from "./check-secret-sources.ts";
import { toConversationInfo, type ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import type { Warning } from "../../../events/warning.ts";
import { unusedWarning } from "../../../engine/unused-fields.ts";
import { conversationMissing } from "../../../engine/refusals.ts";
import type { Caller } from "../../../security/caller.ts";
import { Fault } from "../../../lib/fault.ts";
import { readStartDepth } from "../../../lib/start-depth.ts";
import { storedId } from "../../../lib/uuid7.ts";
import { checkAnalyzer } from "../../../security/analyzers/check-analyzer.ts";
import { toSharedInfo } from "../../../reading/shared-view.ts";
import { quotaHeaders } from "./quota-headers.ts";
import { conversationStarter, type ConversationStarterDeps } from "./start-conversation.ts";
import { checkPolicy, namesNewerFields, readTitle } from "./start-request.ts";

const success = { json: { success: true } };

/** The routes below `/api/conversations`. Source: contract 4.2 for stop. */
export function conversationHandlers(deps: ConversationStarterDeps) {
  const { directory } = deps;
  const start = conversationStarter(deps);

  async function describe(caller: Caller, id: string): Promise<ConversationInfo> {
    const described = await directory.describe(caller, id);
    if (described === null) throw conversationMissing(id);
    return toConversationInfo(described);
  }

  const open = (request: RouteRequest): Promise<Conversation> => openAsked(directory, request);

  /** For this route a missing conversation counts as one that is not running. Source: contract 4.2. */
  async function stopIfThere(request: RouteRequest): Promise<string> {
    try {
      return await (await open(request)).halts.stop();
    } catch (error) {
      if (error instanceof Fault && error.kind === "missing") return "STOPPED";
      throw error;
    }
  }

  return {
    startConversation: async (request) => {
      const { caller, settingsVersion, settingsUsed } = request;
      const { id, created } = await start(caller, request.body, {
        isNewer: namesNewerFields(request.request.body),
        settingsVersion,
        settingsUsed,
        startDepth: readStartDepth(request.headers),
        warnings: unusedWarnings(request),
      });
      if (created === null) return { json: await describe(caller, id) };
      return {
        status: 201,
        json: toConversationInfo(created),
        headers: await quotaHeaders(directory, caller),
      };
    },

    getConversation: async (request) => {
      const { caller } = request;
      const info = toConversationInfo(await describeAsked(directory, request));
      return { json: caller.share === undefined ? info : toSharedInfo(info, caller.share) };
    },

    getConversations: async (request) => {
      const ids = request.query.ids.map(storedId);
      const found = await directory.describeMany(request.caller, ids);
      return {
        json: found.map((item: ConversationInfoSource | null) =>
          item === null ? null : toConversationInfo(item),
        ),
      };
    },

    searchConversations: async (request) => {
      const { page_id: pageId, limit, status, sort_order: sort } = request.query;
      const page = await directory.search(request.caller, {
        sort: sort ?? "CREATED_AT_DESC",
        limit: limit ?? 100,
        executionStatus: status ?? undefined,
        pageId: pageId === null || pageId === undefined ? undefined : storedId(pageId),
      });
      return { json: { items: page.items.map(toConversationInfo), next_page_id: page.nextPageId } };
    },

    countConversations: async (request) => {
      const { status } = request.query;
      return { json: await directory.count(request.caller, status ?? undefined) };
    },

    updateConversation: onAsked(directory, async ({ titling, configuration }, { body }) => {
      const { title, tags, while_running: mode } = body;
      if (title !== undefined) await titling.set(readTitle(title));
      if (tags !== undefined && tags !== null) await configuration.change({ tags });
      if (mode !== undefined) await configuration.change({ while_running: mode });
    }),

    deleteConversation: async (request) => {
      await directory.delete(request.caller, conversationIdOf(request));
      return success;
    },

    runConversation: async (request) => {
      await (await open(request)).run();
      return { ...success, headers: await quotaHeaders(directory, request.caller) };
    },

    pauseConversation: onAsked(directory, ({ halts }) => halts.pause()),

    interruptConversation: onAsked(directory, ({ halts }) => halts.interrupt()),

    stopConversation: async (request) => {
      const id = conversationIdOf(request);
      const before = await stopIfThere(request);
      const message =
        before === "RUNNING"
          ? "The agent loop was stopped."
          : "The agent loop was not running; nothing had to be stopped.";
      return { json: { status: "ok", conversation_id: id, message, conversation_status: before } };
    },

    updateSecrets: onAsked(directory, async (conversation, { caller, body: { secrets } }) => {
      checkSecretSources(secrets, ["body", "secrets"], conversation.configuration.secrets.sources);
      await directory.addSecrets(caller, conversation, secrets);
    }),

    setConfirmationPolicy: async (request) => {
      const { policy } = request.body;
      checkPolicy(policy, ["body", "policy"]);
      await (await open(request)).configuration.change({ confirmation_policy: policy });
      return success;
    },

    setSecurityAnalyzer: async (request) => {
      const { security_analyzer: analyzer } = request.body;
      const checked = checkAnalyzer(analyzer, ["body", "security_analyzer"]);
      await (await open(request)).configuration.change({ security_analyzer: checked });
      return success;
    },
  } satisfies Partial<Handlers<typeof agentServerRoutes>>;
}

function unusedWarnings({ unused }: RouteRequest): Warning[] {
  const warning = unusedWarning(unused);
  return warning === null ? [] : [warning];
}
