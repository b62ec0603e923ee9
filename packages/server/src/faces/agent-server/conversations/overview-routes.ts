import type { ConversationExecutionStatus, SetMarksRequest, Start } from "@convoke/protocol";
import type { Directory } from "../../../directory/directory.ts";
import { readOutline } from "../../../reading/outline.ts";
import { conversationMissing } from "../../../engine/refusals.ts";
import { toSummary } from "../../../reading/summary.ts";
import type { KeyRing } from "../../../http/auth.ts";
import type { RouteHandler } from "../../../http/mount.ts";
import type { SummaryFilter, Journal } from "../../../journal/journal.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { formatInstant } from "../../../lib/instant.ts";
import type { SettingsStore } from "../../../settings/settings-store.ts";
import type { DefaultPlace } from "../../../tools/conversation-host.ts";
import type { Ledger } from "../../../spending/ledger.ts";
import { version } from "../../../lib/version.ts";
import type { RequireMachine } from "../../../workspaces/machine-policy.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import { conversationIdOf } from "../../../http/conversation-id.ts";
import type { Clock } from "../../../lib/clock.ts";
import { readInstant } from "../../../http/read-instant.ts";

export type OverviewRouteDeps = {
  readonly directory: Pick<Directory, "count" | "describe" | "exists" | "summaries" | "mark">;
  readonly journal: Pick<Journal, "count" | "search">;
  readonly ledger: Pick<Ledger, "spentToday">;
  readonly settings: Pick<SettingsStore, "load">;
  readonly requireMachine: RequireMachine;
  readonly sandboxes: unknown;
  readonly demo: unknown;
  readonly keys: Pick<KeyRing, "isOpen">;
  readonly hosts: DefaultPlace;
  readonly clock: Clock;
};

/** How many conversations the first screen shows. */
const atFirst = 50;

type Query = {
  readonly page_id?: string | null;
  readonly limit?: number;
  readonly q?: string | null;
  readonly tag?: string | null;
  readonly working_dir?: string | null;
  readonly status?: readonly ConversationExecutionStatus[];
  readonly archived?: boolean;
  readonly pinned?: boolean;
  readonly parent?: string | null;
  readonly updated_at__gte?: string | null;
};

/** The handlers of `overviewRoutes`. */
export function overviewHandlers(deps: OverviewRouteDeps) {
  const { directory } = deps;
  const startedMs = deps.clock.nowMs();
  return {
    getStart: async ({ caller }) => {
      const { userId } = caller;
      const isMachineTheirs = isOnMachine(deps.requireMachine, userId);
      const [page, needsYou, stored] = await Promise.all([
        directory.summaries(caller, { limit: atFirst, isArchived: false }),
        directory.count(caller, "waiting_for_confirmation"),
        deps.settings.load(userId),
      ]);
      const folder = await deps.hosts.defaultFolder();
      const wall = await deps.hosts.describeFolder(folder);
      const json: Start = {
        user_id: userId,
        server: { version, started_at: formatInstant(startedMs * 1000) },
        can: {
          // A wall that is not root isolates from strangers too.
          machine: isMachineTheirs || (wall.kind !== "none" && !wall.as_root),
          sandboxes: deps.sandboxes !== null,
          demo: deps.demo !== null && isMachineTheirs,
          keys: !deps.keys.isOpen,
        },
        models: {
          profiles: Object.keys(stored.settings.profiles),
          active: stored.settings.activeProfile,
        },
        default_workspace: folder,
        wall,
        needs_you: needsYou,
        spend_today: await deps.ledger.spentToday(userId),
        conversations: { items: page.items.map(toSummary), next_page_id: page.nextPageId },
      };
      return { json };
    },

    searchGlances: async (request) => {
      const query = request.query as Query;
      const page = await directory.summaries(request.caller, {
        ...readFilter(query),
        limit: query.limit ?? 100,
        pageId: query.page_id ? (normalizeUuid(query.page_id) ?? query.page_id) : undefined,
      });
      return { json: { items: page.items.map(toSummary), next_page_id: page.nextPageId } };
    },

    getOutline: async (request) => {
      const id = conversationIdOf(request);
      if (!(await directory.exists(request.caller, id))) throw conversationMissing(id);
      const { page_id: pageId, limit } = request.query as Query;
      const page = {
        limit: limit ?? 50,
        pageId: pageId ? pageId.toLowerCase() : undefined,
        upToMicros: request.caller.share?.upTo?.micros,
      };
      return { json: await readOutline(deps.journal, id, page) };
    },

    getLeftBehind: async (request) => {
      const id = conversationIdOf(request);
      const described = await directory.describe(request.caller, id);
      if (described === null) throw conversationMissing(id);
      const hosted = { id, ownerId: request.caller.userId, config: described.config };
      return { json: await deps.hosts.findLeftBehind(hosted) };
    },

    setMarks: async (request) => {
      const body = request.body as SetMarksRequest;
      await directory.mark(request.caller, conversationIdOf(request), {
        isPinned: body.is_pinned,
        isArchived: body.is_archived,
        readEventId: body.read_event_id === undefined ? undefined : body.read_event_id.toLowerCase(),
      });
      return { json: { success: true } };
    },
  } satisfies Record<string, RouteHandler>;
}

function isOnMachine(requireMachine: RequireMachine, userId: string): boolean {
  try {
    requireMachine(userId);
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

function readFilter(query: Query): SummaryFilter {
  const { q, tag, working_dir: workingDir, status, archived, pinned, parent, updated_at__gte: since } = query;
  return {
    titleParts: q ? [q] : undefined,
    tag: tag ? readTag(tag) : undefined,
    workingDir: workingDir || undefined,
    statuses: status === undefined ? undefined : [...new Set(status)],
    isArchived: archived,
    isPinned: pinned,
    parentId: parent ? readParent(parent) : undefined,
    updatedGteMicros: since ? readInstant("updated_at__gte", since) : undefined,
  };
}

function readTag(given: string): NonNullable<SummaryFilter["tag"]> {
  const end = given.indexOf(":");
  return end < 0 ? { key: given, value: null } : { key: given.slice(0, end), value: given.slice(end + 1) };
}

function readParent(given: string): string | null {
  if (given === "none") return null;
  const id = normalizeUuid(given);
  if (id === null)
    throw invalidField(["query", "parent"], "This is neither a UUID nor `none`.", "uuid_parsing");
  return id;
}
