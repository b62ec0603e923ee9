import { Readable } from "node:stream";
import type { startTaskRoutes } from "@convoke/protocol";
import type { AppConversations } from "../../app-conversations/app-conversations.ts";
import type { StartTask } from "../../app-conversations/start-task-store.ts";
import type { Asker } from "../../directory/directory.ts";
import type { Handlers, RequestOf } from "../../http/mount.ts";
import { Fault } from "../../lib/fault.ts";
import { storedId } from "../../lib/uuid7.ts";
import { chooseProfiles } from "../../settings/chosen-profiles.ts";
import type { FaceDeps } from "../face-deps.ts";
import { toStartTask } from "./app-conversation-view.ts";
import { readAppStartRequest } from "./app-start-request.ts";
import { pageReply, readPage } from "./list-page.ts";
import { readInstantOf } from "../../http/read-instant.ts";
import { sandboxGate } from "./sandbox-gate.ts";

type Start = RequestOf<(typeof startTaskRoutes)["startAppConversation"]>;
type Count = RequestOf<(typeof startTaskRoutes)["countStartTasks"]>;

/** Starting conversations in sandboxes. Source: contract 4.4. */
export function startTaskHandlers(deps: FaceDeps) {
  const { appConversations, sandboxes } = deps;
  const { conversations, starter, tasks } = appConversations;

  async function begin({ caller, body: request, unused }: Start): Promise<StartTask> {
    const [versioned, secrets, parent] = await Promise.all([
      deps.settings.load(caller.userId),
      deps.secrets.values(caller.userId),
      findParent(conversations, caller, request.parent_conversation_id ?? null),
    ]);
    const { settings, used } = await chooseProfiles(deps.profileHistory, caller.userId, versioned, {
      agent_profile_id: request.agent_profile_id || null,
    });
    const templates = sandboxes?.templates ?? [];
    const sandboxId = request.sandbox_id ?? parent?.row.sandboxId ?? null;
    const [sandbox = null] =
      sandboxId === null || sandboxes === null ? [] : await sandboxes.getMany(caller.userId, [sandboxId]);
    const start = readAppStartRequest(request, {
      validator: deps.validator,
      settings,
      settingsVersion: versioned.version,
      settingsUsed: used,
      secrets,
      catalogue: deps.toolHost.catalogue,
      approvalDefault: deps.approvalDefault,
      templates,
      sandbox,
      parent,
      unused,
    });
    return await starter.begin(caller, start);
  }

  return {
    startAppConversation: async (request) => ({
      json: toStartTask(await begin(request), sandboxGate(request, sandboxes)),
    }),

    streamAppConversationStart: async (request) => {
      const addresses = sandboxGate(request, sandboxes);
      const task = await begin(request);
      const texts = jsonList(starter.follow(task, request.signal), (now) => toStartTask(now, addresses));
      return { stream: Readable.from(texts, { objectMode: false }), contentType: "application/json" };
    },

    searchStartTasks: async (request) => {
      const page = await tasks.search({
        ...readFilter(request),
        ...readPage(request),
        sort: request.query.sort_order ?? "CREATED_AT_DESC",
      });
      const addresses = sandboxGate(request, sandboxes);
      return pageReply(page, (task) => toStartTask(task, addresses));
    },

    countStartTasks: async (request) => ({ json: await tasks.count(readFilter(request)) }),

    getStartTasks: async (request) => {
      const ids = request.query.ids.map(storedId);
      const found = await tasks.getMany(request.caller.userId, ids);
      const addresses = sandboxGate(request, sandboxes);
      return { json: found.map((task) => (task === null ? null : toStartTask(task, addresses))) };
    },
  } satisfies Handlers<typeof startTaskRoutes>;
}

async function findParent(conversations: AppConversations, asker: Asker, given: string | null) {
  if (given === null) return null;
  const id = storedId(given);
  const [parent] = await conversations.getMany(asker, [id]);
  if (parent) return parent;
  throw new Fault(
    "missing",
    "parent_not_found",
    "Parent conversation not found. Check parent_conversation_id.",
  );
}

function readFilter({ caller, query }: Count) {
  const { conversation_id__eq: conversation } = query;
  const from = readInstantOf(query, "created_at__gte");
  return {
    ownerId: caller.userId,
    conversationId: typeof conversation === "string" ? storedId(conversation) : undefined,
    createdGteMs: from === null ? undefined : Math.ceil(from / 1000),
  };
}

/** A JSON list whose items go out as they come. */
async function* jsonList<Item>(
  items: AsyncIterable<Item>,
  toJson: (item: Item) => unknown,
): AsyncGenerator<string> {
  let before = "[\n";
  for await (const item of items) {
    yield before + JSON.stringify(toJson(item));
    before = ",\n";
  }
  yield "\n]";
}
