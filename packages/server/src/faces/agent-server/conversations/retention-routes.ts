import type {
  ConversationHold,
  RetentionPolicy,
  TrashedConversation,
  retentionRoutes,
} from "@convoke/protocol";
import { conversationMissing } from "../../../engine/refusals.ts";
import { conversationIdOf } from "../../../http/asked-conversation.ts";
import type { RouteRequest, Handlers } from "../../../http/mount.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { formatInstant } from "../../../lib/instant.ts";
import { hasCondition } from "../../../retention/find-matches.ts";
import type { Hold } from "../../../settings/hold-store.ts";
import type { Trashed } from "../../../settings/trash-store.ts";
import type { FaceDeps } from "../../face-deps.ts";

function checkPolicy(policy: RetentionPolicy): RetentionPolicy {
  const without = policy.rules.findIndex((rule) => !hasCondition(rule));
  if (without >= 0)
    throw invalidField(
      ["body", "rules", without],
      "A rule without a condition would fit everything. Say older_than_days, idle_days, larger_than_mib or tag.",
    );
  return policy;
}

/** How many one request deletes at most. */
const maxEmptied = 200;

export function retentionHandlers(deps: FaceDeps) {
  const { directory, retention, retentionPolicies, holds, trash } = deps;

  /** In use or in the trash. */
  async function requireOwn(request: RouteRequest): Promise<string> {
    const id = conversationIdOf(request);
    const { caller } = request;
    const isOwn = (await directory.exists(caller, id)) || (await trash.get(id))?.user_id === caller.userId;
    if (!isOwn) throw conversationMissing(id);
    return id;
  }

  async function show(entries: readonly Trashed[]): Promise<TrashedConversation[]> {
    const held = await holds.of(entries.map(({ conversation_id: id }) => id));
    return entries.map((entry) => showTrashed(entry, held.get(entry.conversation_id)));
  }

  return {
    getRetention: async ({ caller }) => ({ json: await retention.policiesOf(caller.userId) }),

    setRetention: async ({ body, caller }) => {
      await retentionPolicies.set(caller.userId, checkPolicy(body));
      return { json: await retention.policiesOf(caller.userId) };
    },

    planRetention: async ({ caller }) => ({ json: await retention.plan(caller.userId) }),

    previewRetention: async ({ body, caller }) => ({
      json: await retention.plan(caller.userId, checkPolicy(body)),
    }),

    listTrash: async ({ caller, query }) => {
      const { limit = 100, page_id: pageId = null } = query;
      const before = pageId === null ? null : await trash.get(pageId.toLowerCase());
      if (pageId !== null && before?.user_id !== caller.userId)
        throw invalidField(["query", "page_id"], "It is not in the trash. Start again without page_id.");
      const found = await trash.list(caller.userId, limit + 1, before);
      const items = await show(found.slice(0, limit));
      return {
        json: { items, next_page_id: found.length > limit ? found[limit - 1]!.conversation_id : null },
      };
    },

    trashConversation: async (request) => {
      const { caller } = request;
      const days = await retention.trashDaysOf(caller.userId);
      const order = { id: conversationIdOf(request), reason: "by hand", days };
      return { json: showTrashed(await directory.trash.put(caller, order)) };
    },

    restoreFromTrash: async (request) => {
      await directory.trash.restore(request.caller, conversationIdOf(request));
      return { json: { success: true } };
    },

    deleteFromTrash: async (request) => {
      await directory.trash.delete(request.caller, conversationIdOf(request));
      return { json: { success: true } };
    },

    emptyTrash: async ({ caller, signal }) => {
      let [deleted, held] = [0, 0];
      let last: Trashed | null = null;
      while (!signal.aborted) {
        const entries: Trashed[] = await trash.list(caller.userId, 100, last);
        for (const entry of entries) {
          if (deleted >= maxEmptied) return { json: { deleted, held, left: true } };
          last = entry;
          if (await deleteUnlessHeld(caller, entry)) deleted += 1;
          else held += 1;
        }
        if (entries.length < 100) return { json: { deleted, held, left: false } };
      }
      return { json: { deleted, held, left: true } };
    },

    listHolds: async ({ caller }) => ({ json: { items: (await holds.list(caller.userId)).map(showHold) } }),

    setHold: async (request) => {
      const id = await requireOwn(request);
      const { reason } = request.body ?? {};
      const hold = await holds.set(request.caller.userId, id, reason ?? "");
      // It may have been deleted meanwhile: a hold of nothing would stay behind.
      await requireOwn(request).catch(async (error: unknown) => {
        await holds.lift(id);
        throw error;
      });
      return { json: showHold(hold) };
    },

    liftHold: async (request) => {
      await holds.lift(await requireOwn(request));
      return { json: { success: true } };
    },
  } satisfies Handlers<typeof retentionRoutes>;

  async function deleteUnlessHeld(caller: RouteRequest["caller"], entry: Trashed): Promise<boolean> {
    try {
      await directory.trash.delete(caller, entry.conversation_id);
      return true;
    } catch (error) {
      if (error instanceof Fault && error.code === "conversation_held") return false;
      throw error;
    }
  }
}

function showTrashed(entry: Trashed, hold?: Hold): TrashedConversation {
  return {
    conversation_id: entry.conversation_id,
    title: entry.title,
    reason: entry.reason,
    trashed_at: formatInstant(entry.trashed_at * 1000),
    ends_at: formatInstant(entry.ends_at * 1000),
    hold_reason: hold?.reason ?? null,
  };
}

function showHold({ conversation_id, reason, held_at: heldAtMs }: Hold): ConversationHold {
  return { conversation_id, reason, held_at: formatInstant(heldAtMs * 1000) };
}
