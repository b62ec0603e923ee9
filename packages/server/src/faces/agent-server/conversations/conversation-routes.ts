import { randomUUID } from "node:crypto";
import type {
  ConversationInfo,
  SetConfirmationPolicyRequest,
  SetSecurityAnalyzerRequest,
  StartConversationRequest,
  UpdateConversationRequest,
  UpdateSecretsRequest,
} from "@convoke/protocol";
import type { Conversation } from "../../../engine/conversation.ts";
import type { SendInput } from "../../../engine/conversation-deps.ts";
import { checkSecretSources } from "./check-secret-sources.ts";
import { toConversationInfo, type ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import { withWarnings, type ConversationConfig } from "../../../engine/conversation-config.ts";
import type { Warning } from "../../../events/warning.ts";
import type { ConversationDirectory } from "../../../directory/conversation-directory.ts";
import { unusedWarning } from "../../../engine/unused-fields.ts";
import { conversationMissing } from "../../../engine/refusals.ts";
import type { Caller } from "../../../security/caller.ts";
import type { RouteHandler, RouteRequest } from "../../../http/mount.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { readStartDepth } from "../../../lib/start-depth.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import { checkAnalyzer } from "../../../security/analyzers/check-analyzer.ts";
import { conversationIdOf } from "../../../http/conversation-id.ts";
import type { PluginAccess } from "../extensions/open-plugin.ts";
import { withPlugins } from "../extensions/with-plugins.ts";
import { toSharedInfo } from "../../../reading/shared-view.ts";
import { quotaHeaders } from "./quota-headers.ts";
import { checkPolicy, namesNewerFields, readStartRequest, readTitle, type Start } from "./start-request.ts";
import { withoutUndefined } from "../../../lib/without-undefined.ts";

export type ConversationRouteDeps = {
  readonly directory: ConversationDirectory;
  /** The access by which plugins are read; without it plugins are refused. */
  readonly plugins?: PluginAccess;
};

type Search = {
  page_id?: string | null;
  limit?: number;
  status?: string | null;
  sort_order?: "CREATED_AT" | "CREATED_AT_DESC" | "UPDATED_AT" | "UPDATED_AT_DESC";
};

const success = { json: { success: true } };

/** The routes below `/api/conversations`. Source: contract 4.2 for stop. */
export function conversationHandlers({ directory, plugins }: ConversationRouteDeps) {
  async function describe(caller: Caller, id: string): Promise<ConversationInfo> {
    const described = await directory.describe(caller, id);
    if (described === null) throw conversationMissing(id);
    return toConversationInfo(described);
  }

  /** For a conversation that exists already and has no message yet. */
  async function sendFirst(conversation: Conversation, message: SendInput): Promise<void> {
    try {
      await conversation.send(message);
    } catch (error) {
      // Another request created the conversation with another first message at the same time, and won.
      if (!(error instanceof Fault && error.code === "client_message_id_reused")) throw error;
    }
  }

  /** A known id returns that conversation, whatever its plugins are now. */
  async function isKnown(
    caller: Caller,
    { conversation_id: id }: StartConversationRequest,
  ): Promise<boolean> {
    const known = id ? normalizeUuid(id) : null;
    return known !== null && (await directory.describe(caller, known)) !== null;
  }

  /** Parent and child must share a folder: the parent's work is not in another one. */
  async function parentOf(
    caller: Caller,
    id: string,
    { parentId, config }: Pick<Start, "parentId" | "config">,
  ): Promise<Pick<ConversationConfig, "parent">> {
    if (parentId === null) return {};
    const loc = ["body", "parent_conversation_id"];
    const parent = parentId === id ? null : await directory.describe(caller, parentId);
    if (parent === null)
      throw invalidField(
        loc,
        "There is no other conversation with this id. Name one of yours, or leave this out.",
      );
    if (parent.config.workspace.working_dir !== config.workspace.working_dir)
      throw invalidField(
        loc,
        "The conversation that this one belongs to works in another folder. Name the same one.",
      );
    return { parent: { conversation_id: parentId } };
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
      const { caller, settingsVersion: version } = request;
      const given = request.body as StartConversationRequest;
      const { body, warnings, joined } =
        (given.plugins ?? []).length > 0 && (await isKnown(caller, given))
          ? { body: { ...given, plugins: null }, warnings: [], joined: [] }
          : await withPlugins(given, plugins ?? null, caller.userId);
      const start = readStartRequest(body, namesNewerFields(request.request.body));
      const { initial_message: first } = body;
      const id = start.conversationId ?? randomUUID();
      const below = await parentOf(caller, id, start);
      const startDepth = readStartDepth(request.headers);
      const config = {
        ...start.config,
        ...below,
        ...(joined.length === 0 ? {} : { joined_plugins: joined }),
        ...withWarnings(start.config, [...warnings, ...unusedWarnings(request)]),
        ...withoutUndefined({ settings_version: version }),
        ...(startDepth === 0 ? {} : { start_depth: startDepth }),
      };
      const message = firstMessage(start, first?.run !== false);
      const created = await directory.create(caller, { id, ...start, config }, message);
      if (created !== null) {
        const headers = await quotaHeaders(directory, caller);
        return { status: 201, json: toConversationInfo(created), headers };
      }
      if (message !== null && (await directory.describe(caller, id))?.state.lastSeq === 0)
        await sendFirst(await directory.open(caller, id), message);
      return { json: await describe(caller, id) };
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
      const { title, tags } = request.body as UpdateConversationRequest;
      if (title !== undefined) await conversation.titling.set(readTitle(title));
      if (tags !== undefined && tags !== null) await conversation.configuration.change({ tags });
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

/** The same key on every retry: however often a create is repeated, the message is sent exactly once. */
function firstMessage(
  { initialMessage: message, initialSchema: responseSchema }: Start,
  wantsRun: boolean,
): SendInput | null {
  const clientMessageId = "convoke:initial-message";
  return message === null ? null : { message, wantsRun, responseSchema, clientMessageId };
}
