import type {
  ConversationInfo,
  SetConfirmationPolicyRequest,
  SetSecurityAnalyzerRequest,
  StartConversationRequest,
  UpdateConversationRequest,
  UpdateSecretsRequest,
} from "@convoke/protocol";
import type { Conversation } from "../../../engine/conversation.ts";
import { checkSecretSources } from "./check-secret-sources.ts";
import { toConversationInfo, type ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import type { Warning } from "../../../events/warning.ts";
import { unusedWarning } from "../../../engine/unused-fields.ts";
import { conversationMissing } from "../../../engine/refusals.ts";
import type { Caller } from "../../../security/caller.ts";
import type { RouteHandler, RouteRequest } from "../../../http/mount.ts";
import { Fault } from "../../../lib/fault.ts";
import { readStartDepth } from "../../../lib/start-depth.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import { checkAnalyzer } from "../../../security/analyzers/check-analyzer.ts";
import { conversationIdOf } from "../../../http/conversation-id.ts";
import { toSharedInfo } from "../../../reading/shared-view.ts";
import { quotaHeaders } from "./quota-headers.ts";
import { conversationStarter, type ConversationStarterDeps } from "./start-conversation.ts";
import { checkPolicy, namesNewerFields, readTitle } from "./start-request.ts";

type Search = {
  page_id?: string | null;
  limit?: number;
  status?: string | null;
  sort_order?: "CREATED_AT" | "CREATED_AT_DESC" | "UPDATED_AT" | "UPDATED_AT_DESC";
};

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

  const open = (request: RouteRequest): Promise<Conversation> =>
    directory.open(request.caller, conversationIdOf(request));

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
      const { id, created } = await start(caller, request.body as StartConversationRequest, {
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
      const info = await describe(caller, conversationIdOf(request));
      return { json: caller.share === undefined ? info : toSharedInfo(info, caller.share) };
    },

    getConversations: async (request) => {
      const ids = (request.query["ids"] as readonly string[]).map((id) => normalizeUuid(id) ?? id);
      const found = await directory.describeMany(request.caller, ids);
      return {
        json: found.map((item: ConversationInfoSource | null) =>
          item === null ? null : toConversationInfo(item),
        ),
      };
    },

    searchConversations: async (request) => {
      const { page_id: pageId, limit, status, sort_order: sort } = request.query as Search;
      const page = await directory.search(request.caller, {
        sort: sort ?? "CREATED_AT_DESC",
        limit: limit ?? 100,
        executionStatus: status ?? undefined,
        pageId: pageId === null || pageId === undefined ? undefined : (normalizeUuid(pageId) ?? pageId),
      });
      return { json: { items: page.items.map(toConversationInfo), next_page_id: page.nextPageId } };
    },

    countConversations: async (request) => {
      const { status } = request.query as Search;
      return { json: await directory.count(request.caller, status ?? undefined) };
    },

    updateConversation: async (request) => {
      const conversation = await open(request);
      const { title, tags, while_running: mode } = request.body as UpdateConversationRequest;
      if (title !== undefined) await conversation.titling.set(readTitle(title));
      if (tags !== undefined && tags !== null) await conversation.configuration.change({ tags });
      if (mode !== undefined) await conversation.configuration.change({ while_running: mode });
      return success;
    },

    deleteConversation: async (request) => {
      await directory.delete(request.caller, conversationIdOf(request));
      return success;
    },

    runConversation: async (request) => {
      await (await open(request)).run();
      return { ...success, headers: await quotaHeaders(directory, request.caller) };
    },

    pauseConversation: async (request) => {
      await (await open(request)).halts.pause();
      return success;
    },

    interruptConversation: async (request) => {
      await (await open(request)).halts.interrupt();
      return success;
    },

    stopConversation: async (request) => {
      const id = conversationIdOf(request);
      const before = await stopIfThere(request);
      const message =
        before === "RUNNING"
          ? "The agent loop was stopped."
          : "The agent loop was not running; nothing had to be stopped.";
      return { json: { status: "ok", conversation_id: id, message, conversation_status: before } };
    },

    updateSecrets: async (request) => {
      const { secrets } = request.body as UpdateSecretsRequest;
      const conversation = await open(request);
      checkSecretSources(secrets, ["body", "secrets"], conversation.configuration.secrets.sources);
      await directory.addSecrets(request.caller, conversation, secrets);
      return success;
    },

    setConfirmationPolicy: async (request) => {
      const { policy } = request.body as SetConfirmationPolicyRequest;
      checkPolicy(policy, ["body", "policy"]);
      await (await open(request)).configuration.change({ confirmation_policy: policy });
      return success;
    },

    setSecurityAnalyzer: async (request) => {
      const { security_analyzer: analyzer } = request.body as SetSecurityAnalyzerRequest;
      const checked = checkAnalyzer(analyzer, ["body", "security_analyzer"]);
      await (await open(request)).configuration.change({ security_analyzer: checked });
      return success;
    },
  } satisfies Record<string, RouteHandler>;
}

function unusedWarnings({ unused }: RouteRequest): Warning[] {
  const warning = unusedWarning(unused);
  return warning === null ? [] : [warning];
}
