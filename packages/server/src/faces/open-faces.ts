import {
  agentServerRoutes,
  appConversationRoutes,
  appEventRoutes,
  appServerRoutes,
  appWorkspaceRoutes,
  catalogRoutes,
  installedRoutes,
  childConversationRoutes,
  legacyRoutes,
  demoRoutes,
  keyRoutes,
  loginRoutes,
  mcpRoutes,
  openAiRoutes,
  overviewRoutes,
  pushRoutes,
  searchRoutes,
  onConversationMachineRoutes,
  conversationFileRoutes,
  conversationMachineRoutes,
  sandboxRoutes,
  sandboxSpecRoutes,
  previewRoutes,
  shellRoutes,
  terminalRoutes,
  controlRoutes,
  startTaskRoutes,
  webhookRoutes,
} from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import type { ToolHost } from "@convoke/tool-host";
import type { OpenAppConversations } from "../app-conversations/open-app-conversations.ts";
import type { Sandboxes } from "../app-conversations/sandbox-service.ts";
import type { SkillAccess } from "../tools/session-skills.ts";
import type { ApprovalPolicy } from "../engine/approval-policy.ts";
import type { Directory } from "../directory/directory.ts";
import type { PageCache } from "../events/page-cache.ts";
import type { TrimmedEvents } from "../events/trimmed-events.ts";
import type { Ledger } from "../spending/ledger.ts";
import { localUser, type Caller } from "../security/caller.ts";
import { face, type Face, type RouteHandler } from "../http/mount.ts";
import type { CompletedBody } from "../http/read-request.ts";
import type { Journal } from "../journal/journal.ts";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Logger } from "../lib/logger.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { McpLogins } from "../settings/mcp-logins.ts";
import type { SealedValues } from "../settings/sealed-values.ts";
import type { SecretStore } from "../settings/secret-store.ts";
import type { SettingsStore } from "../settings/settings-store.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import type { RequireMachine } from "../workspaces/machine-policy.ts";
import type { Fetch } from "../lib/filtered-fetch.ts";
import { version } from "../lib/version.ts";
import { childHandlers } from "./agent-server/conversations/child-routes.ts";
import { replayHandlers } from "./agent-server/events/replay-routes.ts";
import { conversationFileHandlers } from "./agent-server/files/conversation-file-routes.ts";
import {
  conversationMachineHandlers,
  onConversationMachineHandlers,
} from "./agent-server/files/conversation-machine-routes.ts";
import { catalogHandlers } from "./agent-server/extensions/catalog-routes.ts";
import { createSandboxAccess } from "./gateway/sandbox-access.ts";
import { completeStart } from "./agent-server/conversations/complete-start.ts";
import { contextHandlers } from "./agent-server/conversations/context-routes.ts";
import { conversationHandlers } from "./agent-server/conversations/conversation-routes.ts";
import { demoHandlers, type DemoRouteDeps } from "./agent-server/conversations/demo-routes.ts";
import { eventHandlers } from "./agent-server/events/event-routes.ts";
import { askHandlers } from "./agent-server/conversations/ask-routes.ts";
import { overviewHandlers } from "./agent-server/conversations/overview-routes.ts";
import { pastHandlers } from "./agent-server/events/past-routes.ts";
import { pushHandlers, type PushRouteDeps } from "./agent-server/server/push-routes.ts";
import { searchHandlers } from "./agent-server/events/search-routes.ts";
import { shellHandlers } from "./agent-server/shells/shell-routes.ts";
import { terminalHandlers } from "./agent-server/shells/terminal-routes.ts";
import { controlHandlers } from "./agent-server/conversations/control-routes.ts";
import { mcpHandlers } from "./agent-server/extensions/mcp-routes.ts";
import { selectableTools, serverHandlers } from "./agent-server/server/server-routes.ts";
import { skillHandlers, type SkillRouteDeps } from "./agent-server/extensions/skill-routes.ts";
import { installedHandlers } from "./agent-server/extensions/plugin-routes.ts";
import { settingsFace } from "./agent-server/settings/settings-face.ts";
import type { TryModelDeps } from "./agent-server/settings/try-model.ts";
import { workspaceHandlers, type WorkspaceHandlersDeps } from "./agent-server/files/workspace-handlers.ts";
import { appConversationHandlers, deletionHandlers } from "./app-server/app-conversation-routes.ts";
import { appEventHandlers } from "./app-server/app-event-routes.ts";
import { appWorkspaceHandlers } from "./app-server/app-workspace-routes.ts";
import { profileHandlers } from "./app-server/profile-routes.ts";
import { noSandboxHandlers, sandboxHandlers } from "./app-server/sandbox-routes.ts";
import { startTaskHandlers } from "./app-server/start-task-routes.ts";
import { userSettingsHandlers } from "./app-server/user-settings-routes.ts";
import { keyHandlers, type KeyRouteDeps } from "./logins/key-routes.ts";
import { loginHandlers, type LoginRouteDeps } from "./logins/login-routes.ts";
import { previewHandlers } from "./previews/preview-routes.ts";
import type { WorkspacePorts } from "./previews/workspace-ports.ts";
import { secretHandlers } from "./legacy/secret-routes.ts";
import { settingsHandlers } from "./legacy/settings-routes.ts";
import { openAiHandlers } from "./openai/openai-routes.ts";

export type FacesDeps = TryModelDeps &
  LoginRouteDeps &
  KeyRouteDeps &
  PushRouteDeps &
  Pick<DemoRouteDeps, "demo"> &
  WorkspaceHandlersDeps & {
    readonly journal: Journal;
    readonly directory: Directory;
    readonly trimmed: TrimmedEvents;
    readonly pages: PageCache;
    readonly ledger: Ledger;
    /** For conversations that are created without an approval policy. */
    readonly approvalDefault: ApprovalPolicy | null;
    readonly toolHost: ToolHost;
    readonly settings: SettingsStore;
    readonly secrets: SecretStore;
    readonly mcpLogins: McpLogins;
    readonly cluster: Cluster;
    readonly database: ApplicationDatabase;
    readonly logger: Logger;
    readonly sealedValues: SealedValues;
    readonly skills: SkillAccess;
    readonly validator: Validator;
    /** Without them everything below `/api/v1/sandboxes` and `/api/v1/sandbox-specs` is refused. */
    readonly sandboxes: Sandboxes | null;
    readonly ports: WorkspacePorts;
    readonly appConversations: OpenAppConversations;
    readonly nowMs: () => number;
    readonly lastActivityMs: () => number;
    readonly isReady: () => boolean;
    /** Absolute. */
    readonly workspaceRoot: string;
    /** For addresses that users choose. */
    readonly filteredFetch: Fetch;
    /** Decides who may use the server's machine. */
    readonly requireMachine: RequireMachine;
    readonly webhooks: Pick<Webhooks, "status">;
  };

/** Every REST surface of the server: one line for each table of routes. */
export function openFaces(deps: FacesDeps): Face[] {
  const { settings, secrets, sandboxes, appConversations, toolHost, nowMs } = deps;
  const complete = (body: unknown, caller: Caller): Promise<CompletedBody> =>
    completeStart(body, caller, { ...deps, catalogue: toolHost.catalogue });
  const agentServer = face(agentServerRoutes, agentServerHandlers(deps), { startConversation: complete });
  const legacy = face(legacyRoutes, { ...settingsHandlers(deps), ...secretHandlers({ secrets }) });
  const appServer = face(appServerRoutes, {
    ...userSettingsHandlers({ settings, secrets, nowMs }),
    ...profileHandlers({ settings }),
  });
  const onMachines = { ...deps, openSandboxAccess: createSandboxAccess(deps) };
  return [
    agentServer,
    settingsFace(deps),
    face(installedRoutes, onFolders(installedHandlers({ ...catalogueDeps(deps), nowMs }), deps)),
    face(controlRoutes, controlHandlers(deps)),
    face(overviewRoutes, { ...overviewHandlers(deps), ...pastHandlers(deps), ...replayHandlers(deps) }),
    face(searchRoutes, searchHandlers(deps)),
    face(terminalRoutes, terminalHandlers(deps)),
    face(shellRoutes, shellHandlers(onMachines)),
    face(previewRoutes, previewHandlers(deps)),
    face(conversationMachineRoutes, conversationMachineHandlers(deps)),
    face(onConversationMachineRoutes, onConversationMachineHandlers(onMachines)),
    face(conversationFileRoutes, conversationFileHandlers(onMachines)),
    face(childConversationRoutes, childHandlers(deps)),
    face(
      catalogRoutes,
      catalogHandlers({ ...catalogueDeps(deps), tools: selectableTools(toolHost.catalogue) }),
    ),
    legacy,
    appServer,
    face(appEventRoutes, appEventHandlers(deps)),
    // Fixed paths stand before those with a parameter in their place.
    face(startTaskRoutes, startTaskHandlers({ ...deps, ...appConversations })),
    face(appConversationRoutes, appConversationHandlers({ sandboxes, ...appConversations })),
    face(appWorkspaceRoutes, appWorkspaceHandlers({ ...deps, ...appConversations })),
    face(mcpRoutes, mcpHandlers({ ...deps, fetch: deps.filteredFetch, clientVersion: version })),
    face(openAiRoutes, openAiHandlers({ ...deps, complete })),
    face(webhookRoutes, webhookHandlers(deps)),
    face(pushRoutes, pushHandlers(deps)),
    face(loginRoutes, loginHandlers(deps)),
    face(keyRoutes, keyHandlers(deps)),
    face(demoRoutes, demoHandlers(deps)),
    face(
      { ...sandboxRoutes, ...sandboxSpecRoutes },
      sandboxes === null ? noSandboxHandlers : sandboxHandlers({ sandboxes }),
    ),
  ];
}

function catalogueDeps({ settings, skills, toolHost, workspaceRoot }: FacesDeps): SkillRouteDeps {
  const { files, home, publicFolder } = skills.server;
  return { settings, files: skills.filesOf(toolHost) ?? files, home, publicFolder, workspaceRoot };
}

/** Handlers that read a folder of the server's machine that the caller names. */
function onFolders<Handlers extends Record<string, RouteHandler>>(
  handlers: Handlers,
  { requireMachine }: FacesDeps,
): Handlers {
  const guarded = Object.entries(handlers).map(([operation, handle]): [string, RouteHandler] => [
    operation,
    (request) => {
      const { project_dir: folder, source } = (request.body ?? {}) as Record<string, unknown>;
      if (folder || source) requireMachine(request.caller.userId);
      return handle(request);
    },
  ]);
  return Object.fromEntries(guarded) as Handlers;
}

/** Webhook receivers belong to the operator, and their addresses are often secret: other users see none. */
function webhookHandlers({ webhooks }: FacesDeps): { listWebhooks: RouteHandler } {
  return {
    listWebhooks: ({ caller }) => ({
      json: { webhooks: caller.userId === localUser.userId ? webhooks.status : [] },
    }),
  };
}

/** The handlers of `agentServerRoutes`, which sandboxes show in part. */
export function agentServerHandlers(deps: FacesDeps) {
  return {
    ...serverHandlers(deps),
    ...conversationHandlers({
      ...deps,
      plugins: { files: catalogueDeps(deps).files, requireMachine: deps.requireMachine },
    }),
    ...deletionHandlers(deps),
    ...eventHandlers(deps),
    ...contextHandlers(deps),
    ...askHandlers(deps),
    ...workspaceHandlers(deps),
    ...onFolders(skillHandlers(catalogueDeps(deps)), deps),
  };
}
