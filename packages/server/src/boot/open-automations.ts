import { AutomationEditor } from "../automations/automation-editor.ts";
import { AutomationStore } from "../automations/automation-store.ts";
import { automationTag } from "../automations/run-request.ts";
import { Scheduler } from "../automations/scheduler.ts";
import type { Peers } from "../cluster/peers.ts";
import { readConfig } from "../engine/read-config.ts";
import { runConversations } from "../faces/agent-server/automations/run-conversations.ts";
import { conversationStarter } from "../faces/agent-server/conversations/start-conversation.ts";
import type { FaceDeps } from "../faces/face-deps.ts";
import type { ConversationRow } from "../journal/journal.ts";
import { describeError } from "../lib/describe-error.ts";
import { wait } from "../lib/wait.ts";
import type { Observer } from "../observability/observer.ts";
import type { UserStore } from "../settings/user-store.ts";
import { DeliveryStore } from "../triggers/delivery-store.ts";
import { EventCursor } from "../triggers/event-cursor.ts";
import type { ConversationFacts } from "../triggers/event-match.ts";
import { EventTriggers } from "../triggers/event-triggers.ts";
import { HookReceiver } from "../triggers/hook-receiver.ts";
import type { OpenConversations } from "./open-conversations.ts";
import type { Store } from "./store.ts";

export type OpenAutomationsDeps = Pick<FaceDeps, "complete" | "validator" | "logger"> & {
  readonly store: Pick<Store, "cluster" | "database" | "journal" | "leases" | "secretBox">;
  readonly conversations: Pick<OpenConversations, "directory" | "hosts" | "profileHistory" | "settings">;
  readonly users: UserStore;
  readonly peers: Peers;
  readonly observer: Observer;
};

export type OpenAutomations = FaceDeps["automations"] &
  Pick<FaceDeps, "hooks"> &
  AsyncDisposable & {
    /** Begins to start runs; to be called when conversations can be created. */
    start(): void;
  };

/** Opens automations. No run starts before `start` is called. */
export function openAutomations(deps: OpenAutomationsDeps): OpenAutomations {
  const { conversations, observer, logger } = deps;
  const { cluster, database, journal, leases, secretBox } = deps.store;
  const { directory, hosts, profileHistory, settings } = conversations;
  const store = new AutomationStore({ database, secretBox, clock: cluster });
  const scheduler = new Scheduler({
    store,
    conversations: runConversations({
      ...deps,
      directory,
      hosts,
      settings,
      journal,
      start: conversationStarter({ directory, profileHistory }),
    }),
    cluster,
    wait,
    logger,
  });
  observer.add({
    ended({ activity }) {
      if (activity.kind !== "run") return;
      scheduler.onRunEnd(activity.conversationId).catch((error: unknown) => {
        // The next poll finds the end as well.
        logger.warn({ error: describeError(error) }, "the end of a run was not recorded at once");
      });
    },
  });
  const port = scheduler;
  const events = new EventTriggers({
    store,
    port,
    journal,
    factsOf,
    cursor: new EventCursor(database),
    leases,
    clock: cluster,
    wait,
    logger,
  });
  const deliveries = new DeliveryStore({ database, clock: cluster });
  return {
    store,
    hooks: new HookReceiver({ store, deliveries, port, clock: cluster }),
    editor: new AutomationEditor({ store, clock: cluster, onChange: () => scheduler.wake() }),
    triggers: scheduler,
    clock: cluster,
    start: () => {
      scheduler.open();
      events.open();
    },
    [Symbol.asyncDispose]: async () => {
      await events[Symbol.asyncDispose]();
      await scheduler[Symbol.asyncDispose]();
    },
  };
}

/** Null for a damaged conversation, which starts nothing. */
function factsOf(row: ConversationRow): ConversationFacts | null {
  const config = readConfig(row);
  if (config === null) return null;
  return {
    id: row.id,
    ownerId: row.ownerId,
    title: row.title,
    tags: config.tags,
    workingDir: config.workspace.working_dir,
    isTask: row.parentId !== null || config.parent !== undefined,
    automationId: config.tags[automationTag] ?? null,
    depth: config.start_depth ?? 0,
  };
}
