import type { Validator } from "@convoke/protocol/validate";
import type { ToolHost } from "@convoke/tool-host";
import { AutomationEditor } from "../automations/automation-editor.ts";
import { DatabaseAutomationStore } from "../automations/database-automation-store.ts";
import { Scheduler, type SchedulerDeps } from "../automations/scheduler.ts";
import type { Peers } from "../cluster/peers.ts";
import type { ApprovalPolicy } from "../engine/approval-policy.ts";
import type { AutomationRouteDeps } from "../faces/agent-server/automations/automation-routes.ts";
import { runConversations } from "../faces/agent-server/automations/run-conversations.ts";
import { completeStart } from "../faces/agent-server/conversations/complete-start.ts";
import { conversationStarter } from "../faces/agent-server/conversations/start-conversation.ts";
import { describeError } from "../lib/describe-error.ts";
import type { Logger } from "../lib/logger.ts";
import { wait } from "../lib/wait.ts";
import type { Observer } from "../observability/observer.ts";
import type { SealedValues } from "../settings/sealed-values.ts";
import type { SecretStore } from "../settings/secret-store.ts";
import type { UserStore } from "../settings/user-store.ts";
import type { OpenConversations } from "./open-conversations.ts";
import type { Store } from "./store.ts";

export type OpenAutomationsDeps = {
  readonly store: Pick<Store, "cluster" | "database" | "journal" | "secretBox">;
  readonly conversations: Pick<OpenConversations, "directory" | "hosts" | "settings">;
  readonly users: UserStore;
  readonly secrets: SecretStore;
  readonly sealedValues: SealedValues;
  readonly toolHost: Pick<ToolHost, "catalogue">;
  readonly approvalDefault: ApprovalPolicy | null;
  readonly validator: Validator;
  readonly livingNodes: SchedulerDeps["livingNodes"];
  readonly peers: Peers;
  readonly observer: Observer;
  readonly logger: Logger;
};

export type OpenAutomations = AutomationRouteDeps["automations"] &
  AsyncDisposable & {
    /** Begins to start runs; to be called when conversations can be created. */
    start(): void;
  };

/** Opens automations. No run starts before `start` is called. */
export function openAutomations(deps: OpenAutomationsDeps): OpenAutomations {
  const { conversations, toolHost, observer, logger } = deps;
  const { cluster, database, journal, secretBox } = deps.store;
  const { directory, hosts, settings } = conversations;
  const store = new DatabaseAutomationStore({ database, secretBox, clock: cluster });
  const scheduler = new Scheduler({
    store,
    conversations: runConversations({
      ...deps,
      directory,
      hosts,
      settings,
      journal,
      start: conversationStarter({ directory }),
      complete: (body, caller) =>
        completeStart(body, caller, { ...deps, settings, catalogue: toolHost.catalogue }),
    }),
    cluster,
    livingNodes: deps.livingNodes,
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
  return {
    store,
    editor: new AutomationEditor({ store, clock: cluster, onChange: () => scheduler.wake() }),
    triggers: scheduler,
    clock: cluster,
    start: () => scheduler.open(),
    [Symbol.asyncDispose]: () => scheduler[Symbol.asyncDispose](),
  };
}
