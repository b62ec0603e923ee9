import type { Start, overviewRoutes } from "@convoke/protocol";
import { conversationIdOf, describeAsked, findAsked } from "../../../http/asked-conversation.ts";
import type { Handlers } from "../../../http/mount.ts";
import { readOutline } from "../../../reading/outline.ts";
import { toSummary } from "../../../reading/summary.ts";
import type { SummaryFilter } from "../../../journal/journal.ts";
import { invalidField } from "../../../lib/fault.ts";
import { formatInstant } from "../../../lib/instant.ts";
import { version } from "../../../lib/version.ts";
import { mayUseMachine } from "../../../workspaces/machine-policy.ts";
import { normalizeUuid, storedId } from "../../../lib/uuid7.ts";
import { readInstant } from "../../../http/read-instant.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** How many conversations the first screen shows. */
const atFirst = 50;

/** The handlers of `overviewRoutes`. */
export function overviewHandlers(deps: FaceDeps) {
  const { directory } = deps;
  const startedMs = deps.clock.nowMs();
  return {
    getStart: async ({ caller }) => {
      const { userId } = caller;
      const isMachineTheirs = mayUseMachine(deps.requireMachine, userId);
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
      const { query } = request;
      const page = await directory.summaries(request.caller, {
        titleParts: query.q ? [query.q] : undefined,
        tag: query.tag ? readTag(query.tag) : undefined,
        workingDir: query.working_dir || undefined,
        statuses: query.status === undefined ? undefined : [...new Set(query.status)],
        isArchived: query.archived,
        isPinned: query.pinned,
        parentId: query.parent ? readParent(query.parent) : undefined,
        updatedGteMicros: query.updated_at__gte
          ? readInstant("updated_at__gte", query.updated_at__gte)
          : undefined,
        limit: query.limit ?? 100,
        pageId: query.page_id ? storedId(query.page_id) : undefined,
      });
      return { json: { items: page.items.map(toSummary), next_page_id: page.nextPageId } };
    },

    getOutline: async (request) => {
      const id = await findAsked(directory, request);
      const { page_id: pageId, limit } = request.query;
      const page = {
        limit: limit ?? 50,
        pageId: pageId ? pageId.toLowerCase() : undefined,
        upToMicros: request.caller.share?.upTo?.micros,
      };
      return { json: await readOutline(deps.journal, id, page) };
    },

    getLeftBehind: async (request) => {
      const { id, config } = await describeAsked(directory, request);
      const hosted = { id, ownerId: request.caller.userId, config };
      return { json: await deps.hosts.findLeftBehind(hosted) };
    },

    setMarks: async (request) => {
      const { is_pinned: isPinned, is_archived: isArchived, read_event_id: readEventId } = request.body;
      await directory.mark(request.caller, conversationIdOf(request), {
        isPinned,
        isArchived,
        readEventId: readEventId?.toLowerCase(),
      });
      return { json: { success: true } };
    },
  } satisfies Partial<Handlers<typeof overviewRoutes>>;
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
