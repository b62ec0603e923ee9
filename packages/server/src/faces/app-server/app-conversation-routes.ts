import type { AppConversationUpdateRequest, appConversationRoutes } from "@convoke/protocol";
import type { ListFilter } from "../../app-conversations/list-conversations.ts";
import type { OpenAppConversations } from "../../app-conversations/open-app-conversations.ts";
import type { Asker } from "../../directory/directory.ts";
import { conversationMissing } from "../../engine/refusals.ts";
import { conversationIdOf, onAsked } from "../../http/asked-conversation.ts";
import type { RouteReply, RouteRequest, Handlers, RequestOf, RouteHandler } from "../../http/mount.ts";
import { Fault, invalidField } from "../../lib/fault.ts";
import { normalizeUuid, storedId } from "../../lib/uuid7.ts";
import { readTitle } from "../agent-server/conversations/start-request.ts";
import { toUserMessage } from "../agent-server/events/user-message.ts";
import { toAppConversation, toHex } from "./app-conversation-view.ts";
import { readInstantOf } from "../../http/read-instant.ts";
import { pageReply, readPage } from "./list-page.ts";
import { checkBranch, checkRepository } from "./repository-request.ts";
import { sandboxGate } from "./sandbox-gate.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";
import type { FaceDeps } from "../face-deps.ts";

type Search = RequestOf<(typeof appConversationRoutes)["searchAppConversations"]>;
type Count = RequestOf<(typeof appConversationRoutes)["countAppConversations"]>;

/** Conversations in sandboxes. Source: contract 4.4. */
export function appConversationHandlers({ appConversations, sandboxes, directory }: FaceDeps) {
  const { conversations, starter, tasks } = appConversations;
  const search = async (request: Search): Promise<RouteReply> => {
    const page = await conversations.search(request.caller, {
      ...readFilter(request),
      ...readPage(request),
      sort: request.query.sort_order ?? "CREATED_AT_DESC",
    });
    const addresses = sandboxGate(request, sandboxes);
    return pageReply(page, (view) => toAppConversation(view, addresses));
  };

  const batch = async (request: RouteRequest, ids: readonly string[]): Promise<RouteReply> => {
    const found = await conversations.getMany(request.caller, ids.map(storedId));
    const addresses = sandboxGate(request, sandboxes);
    return { json: found.map((view) => (view === null ? null : toAppConversation(view, addresses))) };
  };

  /** The conversation that a message is queued for; by its own id, or by `task-` and the id of its start. */
  const addressee = async (asker: Asker, given: string): Promise<string> => {
    const taskId = given.startsWith("task-") ? normalizeUuid(given.slice("task-".length)) : null;
    const [task] = taskId === null ? [] : await tasks.getMany(asker.userId, [taskId]);
    const id = task?.conversationId ?? normalizeUuid(given);
    if (!id) throw conversationMissing(given);
    return id;
  };

  return {
    searchAppConversations: search,

    countAppConversations: async (request) => ({
      json: await conversations.count(request.caller, readFilter(request)),
    }),

    listAppConversations: (request) => {
      const { ids } = request.query;
      return ids === undefined ? search(request) : batch(request, ids);
    },

    updateAppConversation: async (request) => {
      const change = readChange(request.body);
      const view = await conversations.update(request.caller, conversationIdOf(request), change);
      return { json: toAppConversation(view, sandboxGate(request, sandboxes)) };
    },

    switchAppAcpModel: onAsked(directory, (conversation, { body }) =>
      conversation.switchAcpModel(body.model),
    ),

    deleteAppConversation: async (request) => {
      await deleteConversation(appConversations, request.caller, conversationIdOf(request));
      return { json: { success: true } };
    },

    sendAppMessage: async (request) => {
      const { run, ...message } = request.body;
      await conversations.send(request.caller, conversationIdOf(request), {
        message: toUserMessage(message, ["body"]),
        wantsRun: run ?? true,
      });
      return { json: { success: true, sandbox_status: "RUNNING", message: null } };
    },

    queuePendingMessage: async ({ caller, params, body }) => {
      const id = await addressee(caller, params.conversation_id);
      const message = toUserMessage(body, ["body"]);
      const task = await tasks.ofConversation(caller.userId, id);
      const left = task === null ? null : await starter.leaveMessage(id, message);
      if (left !== null)
        return { status: 201, json: { id: toHex(left.id), queued: true, position: left.position } };
      if (task?.status === "ERROR") {
        throw new Fault(
          "conflict",
          "start_failed",
          `The conversation did not start: ${task.detail ?? "unknown"}`,
        );
      }
      const { eventId } = await conversations.send(caller, id, { message, wantsRun: true });
      return { status: 201, json: { id: eventId, queued: false, position: 0 } };
    },
  } satisfies Handlers<typeof appConversationRoutes>;
}

/** Deleting on the agent-server face: a conversation that has a sandbox is deleted with it. */
export function deletionHandlers({ directory, appConversations }: FaceDeps) {
  return {
    deleteConversation: async (request) => {
      const { caller } = request;
      const id = conversationIdOf(request);
      if (await appConversations.conversations.has(caller, id)) {
        await deleteConversation(appConversations, caller, id);
      } else await directory.delete(caller, id);
      return { json: { success: true } };
    },
  } satisfies Record<string, RouteHandler>;
}

/** Cancels the start, if there is one, and removes the conversation. */
async function deleteConversation(
  { conversations, starter, tasks }: OpenAppConversations,
  asker: Asker,
  id: string,
): Promise<void> {
  const wasStarted = await starter.cancel(asker, id);
  try {
    await conversations.delete(asker, id);
  } catch (error) {
    const isNothingLeft = error instanceof Fault && error.kind === "missing";
    if (!wasStarted || !isNothingLeft) throw error;
    await tasks.removeOf(id);
  }
}

function readFilter({ query }: Count): Omit<ListFilter, "ownerId"> {
  const { title__contains: title, sandbox_id__eq: sandboxId, include_sub_conversations: withSubs } = query;
  const [createdGte, createdLt, updatedGte, updatedLt] = (
    ["created_at__gte", "created_at__lt", "updated_at__gte", "updated_at__lt"] as const
  ).map((name) => readInstantOf(query, name));
  return {
    parentIds: withSubs === true ? undefined : null,
    titleContains: typeof title === "string" ? title : undefined,
    sandboxId: typeof sandboxId === "string" ? sandboxId : undefined,
    // Creation is known to the millisecond.
    createdGteMicros: typeof createdGte === "number" ? Math.ceil(createdGte / 1000) * 1000 : undefined,
    createdLtMicros: typeof createdLt === "number" ? Math.ceil(createdLt / 1000) * 1000 : undefined,
    updatedGteMicros: typeof updatedGte === "number" ? updatedGte : undefined,
    updatedLtMicros: typeof updatedLt === "number" ? updatedLt : undefined,
  };
}

function readChange(body: AppConversationUpdateRequest) {
  const { title, selected_repository: repository, selected_branch: branch, git_provider: provider } = body;
  if (typeof repository === "string") checkRepository(repository, ["body", "selected_repository"]);
  if (typeof branch === "string") checkBranch(branch, ["body", "selected_branch"]);
  if (repository === null && (typeof branch === "string" || typeof provider === "string")) {
    throw invalidField(
      ["body", "selected_repository"],
      "Without a repository there is no branch and no provider. Clear them too, or leave them out.",
    );
  }
  return withoutUndefined({
    title: title === undefined ? undefined : title === null ? null : readTitle(title),
    isPublic: body.public,
    selectedRepository: repository,
    // They are meaningless without it.
    selectedBranch: repository === null ? null : branch,
    gitProvider: repository === null ? null : provider,
  });
}
