import {
  agentServerRoutes,
  appConversationRoutes,
  appEventRoutes,
  appServerRoutes,
  appWorkspaceRoutes,
  automationRoutes,
  hookSecretRoutes,
  catalogRoutes,
  canvasExtensionRoutes,
  installedRoutes,
  childConversationRoutes,
  legacyRoutes,
  demoRoutes,
  importRoutes,
  retentionRoutes,
  keyRoutes,
  shareRoutes,
  loginRoutes,
  oidcRoutes,
  mcpRoutes,
  openAiRoutes,
  overviewRoutes,
  policyRoutes,
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
  ruleRoutes,
  startTaskRoutes,
  userRoutes,
  webhookRoutes,
} from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import type { Sandboxes } from "../app-conversations/sandbox-service.ts";
import type { ApprovalPolicy } from "../engine/approval-policy.ts";
import type { Ledger } from "../spending/ledger.ts";
import type { Caller } from "../security/caller.ts";
import { isOperator } from "../security/roles.ts";
import { face, type Face, type RouteHandler } from "../http/mount.ts";
import type { CompletedBody } from "../http/read-request.ts";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Logger } from "../lib/logger.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { McpLogins } from "../settings/mcp-logins.ts";
import type { SealedValues } from "../settings/sealed-values.ts";
import type { SecretStore } from "../settings/secret-store.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import type { Fetch } from "../lib/filtered-fetch.ts";
import { version } from "../lib/version.ts";
import {
  automationHandlers,
  type AutomationRouteDeps,
} from "./agent-server/automations/automation-routes.ts";
import { hookFace, type HookFaceDeps } from "./agent-server/automations/hook-face.ts";
import { childHandlers } from "./agent-server/conversations/child-routes.ts";
import { replayHandlers } from "./agent-server/events/replay-routes.ts";
import { conversationFileHandlers } from "./agent-server/files/conversation-file-routes.ts";
import {
  conversationMachineHandlers,
  onConversationMachineHandlers,
} from "./agent-server/machines/conversation-machine-routes.ts";
import { acpModelHandlers } from "./agent-server/extensions/acp-model-routes.ts";
import { catalogHandlers } from "./agent-server/extensions/catalog-routes.ts";
import { createSandboxAccess } from "./gateway/sandbox-access.ts";
import { completeStart } from "./agent-server/conversations/complete-start.ts";
import { retentionHandlers, type RetentionRouteDeps } from "./agent-server/conversations/retention-routes.ts";
import { importHandlers } from "./agent-server/conversations/import-routes.ts";
import { demoHandlers, type DemoRouteDeps } from "./agent-server/conversations/demo-routes.ts";
import type { DefaultPlace, Grants, NetworkTotals, PassingPlace } from "../tools/conversation-host.ts";
import { overviewHandlers } from "./agent-server/conversations/overview-routes.ts";
import { pastHandlers } from "./agent-server/events/past-routes.ts";
import { pushHandlers, type PushRouteDeps } from "./agent-server/server/push-routes.ts";
import { searchHandlers } from "./agent-server/events/search-routes.ts";
import { shellHandlers } from "./agent-server/shells/shell-routes.ts";
import { terminalHandlers } from "./agent-server/shells/terminal-routes.ts";
import { loadPluginHandlers } from "./agent-server/conversations/load-plugin-route.ts";
import { controlHandlers } from "./agent-server/conversations/control-routes.ts";
import { mcpHandlers } from "./agent-server/extensions/mcp-routes.ts";
import { selectableTools } from "./agent-server/server/server-routes.ts";
import { canvasExtensionHandlers } from "./agent-server/extensions/canvas-extension-routes.ts";
import { installedHandlers } from "./agent-server/extensions/plugin-routes.ts";
import { ruleHandlers, type RuleRouteDeps } from "./agent-server/settings/rule-routes.ts";
import { settingsFace, type SettingsFaceDeps } from "./agent-server/settings/settings-face.ts";
import { appConversationHandlers } from "./app-server/app-conversation-routes.ts";
import { appEventHandlers } from "./app-server/app-event-routes.ts";
import { appWorkspaceHandlers } from "./app-server/app-workspace-routes.ts";
import { profileHandlers } from "./app-server/profile-routes.ts";
import { noSandboxHandlers, sandboxHandlers } from "./app-server/sandbox-routes.ts";
import { startTaskHandlers } from "./app-server/start-task-routes.ts";
import { userSettingsHandlers } from "./app-server/user-settings-routes.ts";
import { keyHandlers, type KeyRouteDeps } from "./logins/key-routes.ts";
import { shareHandlers } from "./logins/share-routes.ts";
import { loginHandlers, type LoginRouteDeps } from "./logins/login-routes.ts";
import { oidcHandlers, type OidcRouteDeps } from "./logins/oidc-routes.ts";
import { policyHandlers, type PolicyRouteDeps } from "./logins/policy-routes.ts";
import { userHandlers } from "./logins/user-routes.ts";
import { previewHandlers } from "./previews/preview-routes.ts";
import type { WorkspacePorts } from "./previews/workspace-ports.ts";
import { secretHandlers } from "./legacy/secret-routes.ts";
import { settingsHandlers } from "./legacy/settings-routes.ts";
import {
  agentServerHandlers,
  onFolders,
  skillRouteDeps,
  type AgentServerDeps,
} from "./agent-server-handlers.ts";
import { openAiHandlers } from "./openai/openai-routes.ts";

export type FacesDeps = SettingsFaceDeps &
  LoginRouteDeps &
  OidcRouteDeps &
  KeyRouteDeps &
  PushRouteDeps &
  Pick<DemoRouteDeps, "demo"> &
  RuleRouteDeps &
  PolicyRouteDeps &
  AutomationRouteDeps &
  Pick<HookFaceDeps, "hooks"> &
  Omit<RetentionRouteDeps, "directory"> &
  AgentServerDeps & {
    readonly hosts: DefaultPlace & NetworkTotals & PassingPlace & { readonly grants: Grants };
    readonly ledger: Ledger;
    /** For conversations that are created without an approval policy. */
    readonly approvalDefault: ApprovalPolicy | null;
    readonly secrets: SecretStore;
    readonly mcpLogins: McpLogins;
    readonly cluster: Cluster;
    readonly database: ApplicationDatabase;
    readonly logger: Logger;
    readonly sealedValues: SealedValues;
    readonly validator: Validator;
    /** Without them everything below `/api/v1/sandboxes` and `/api/v1/sandbox-specs` is refused. */
    readonly sandboxes: Sandboxes | null;
    readonly ports: WorkspacePorts;
    /** For addresses that users choose. */
    readonly filteredFetch: Fetch;
    readonly webhooks: Pick<Webhooks, "status">;
  };

/** Every REST surface of the server: one line for each table of routes. */
export function openFaces(deps: FacesDeps): Face[] {
  const { settings, secrets, sandboxes, appConversations, toolHost, clock } = deps;
  const complete = (body: unknown, caller: Caller): Promise<CompletedBody> =>
    completeStart(body, caller, { ...deps, catalogue: toolHost.catalogue });
  const agentServer = face(agentServerRoutes, agentServerHandlers(deps), { startConversation: complete });
  const legacy = face(legacyRoutes, { ...settingsHandlers(deps), ...secretHandlers({ secrets }) });
  const appServer = face(appServerRoutes, {
    ...userSettingsHandlers({ settings, secrets, clock }),
    ...profileHandlers({ settings }),
  });
  const onMachines = { ...deps, openSandboxAccess: createSandboxAccess(deps) };
  return [
    agentServer,
    settingsFace(deps),
    face(installedRoutes, onFolders(installedHandlers({ ...skillRouteDeps(deps), clock }), deps)),
    face(canvasExtensionRoutes, canvasExtensionHandlers(deps)),
    face(controlRoutes, { ...controlHandlers(deps), ...loadPluginHandlers(deps) }),
    face(ruleRoutes, ruleHandlers(deps)),
    face(overviewRoutes, { ...overviewHandlers(deps), ...pastHandlers(deps), ...replayHandlers(deps) }),
    face(searchRoutes, searchHandlers(deps)),
    face(terminalRoutes, terminalHandlers(deps)),
    face(shellRoutes, shellHandlers(onMachines)),
    face(previewRoutes, previewHandlers(deps)),
    face(conversationMachineRoutes, conversationMachineHandlers(deps)),
    face(onConversationMachineRoutes, onConversationMachineHandlers(onMachines)),
    face(conversationFileRoutes, conversationFileHandlers(onMachines)),
    face(childConversationRoutes, childHandlers(deps)),
    face(catalogRoutes, {
      ...catalogHandlers({ ...skillRouteDeps(deps), tools: selectableTools(toolHost.catalogue) }),
      ...acpModelHandlers({ ...deps, clientVersion: version }),
    }),
    legacy,
    appServer,
    face(appEventRoutes, appEventHandlers(deps)),
    // Fixed paths stand before those with a parameter in their place.
    face(startTaskRoutes, startTaskHandlers({ ...deps, ...appConversations })),
    face(
      appConversationRoutes,
      appConversationHandlers({ directory: deps.directory, sandboxes, ...appConversations }),
    ),
    face(appWorkspaceRoutes, appWorkspaceHandlers({ ...deps, ...appConversations })),
    face(mcpRoutes, mcpHandlers({ ...deps, fetch: deps.filteredFetch, clientVersion: version })),
    face(openAiRoutes, openAiHandlers({ ...deps, complete })),
    face(importRoutes, importHandlers({ ...deps, complete })),
    face(retentionRoutes, retentionHandlers(deps)),
    face(webhookRoutes, webhookHandlers(deps)),
    face(pushRoutes, pushHandlers(deps)),
    face(loginRoutes, loginHandlers(deps)),
    face(oidcRoutes, oidcHandlers(deps)),
    face(keyRoutes, keyHandlers(deps)),
    face(shareRoutes, shareHandlers(deps)),
    face(userRoutes, userHandlers(deps)),
    face(policyRoutes, policyHandlers(deps)),
    face({ ...automationRoutes, ...hookSecretRoutes }, automationHandlers(deps)),
    hookFace(deps),
    face(demoRoutes, demoHandlers(deps)),
    face(
      { ...sandboxRoutes, ...sandboxSpecRoutes },
      sandboxes === null ? noSandboxHandlers : sandboxHandlers({ sandboxes }),
    ),
  ];
}

/** Webhook receivers belong to the operator, and their addresses are often secret: others see none. */
function webhookHandlers({ webhooks }: FacesDeps): { listWebhooks: RouteHandler } {
  return {
    listWebhooks: ({ caller }) => ({
      json: { webhooks: isOperator(caller) ? webhooks.status : [] },
    }),
  };
}
