import {
  agentProfileRoutes,
  agentRevisionRoutes,
  agentServerRoutes,
  agentSettingsRoutes,
  connectionRevisionRoutes,
  llmProfileRoutes,
  llmRoutes,
  metaProfileRoutes,
  metaRevisionRoutes,
  modelRevisionRoutes,
  settingsRevisionRoutes,
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
import { face, type Face, type Handlers } from "../http/mount.ts";
import { isOperator } from "../security/roles.ts";
import { automationHandlers } from "./agent-server/automations/automation-routes.ts";
import { hookFace } from "./agent-server/automations/hook-face.ts";
import { childHandlers } from "./agent-server/conversations/child-routes.ts";
import { replayHandlers } from "./agent-server/events/replay-routes.ts";
import { conversationFileHandlers } from "./agent-server/files/conversation-file-routes.ts";
import {
  conversationMachineHandlers,
  onConversationMachineHandlers,
} from "./agent-server/machines/conversation-machine-routes.ts";
import { acpModelHandlers } from "./agent-server/extensions/acp-model-routes.ts";
import { catalogHandlers } from "./agent-server/extensions/catalog-routes.ts";
import { retentionHandlers } from "./agent-server/conversations/retention-routes.ts";
import { importHandlers } from "./agent-server/conversations/import-routes.ts";
import { demoHandlers } from "./agent-server/conversations/demo-routes.ts";
import { overviewHandlers } from "./agent-server/conversations/overview-routes.ts";
import { pastHandlers } from "./agent-server/events/past-routes.ts";
import { pushHandlers } from "./agent-server/server/push-routes.ts";
import { searchHandlers } from "./agent-server/events/search-routes.ts";
import { shellHandlers } from "./agent-server/shells/shell-routes.ts";
import { terminalHandlers } from "./agent-server/shells/terminal-routes.ts";
import { loadPluginHandlers } from "./agent-server/conversations/load-plugin-route.ts";
import { controlHandlers } from "./agent-server/conversations/control-routes.ts";
import { mcpHandlers } from "./agent-server/extensions/mcp-routes.ts";
import { selectableTools } from "./agent-server/server/server-routes.ts";
import { canvasExtensionHandlers } from "./agent-server/extensions/canvas-extension-routes.ts";
import { installedHandlers } from "./agent-server/extensions/plugin-routes.ts";
import { ruleHandlers } from "./agent-server/settings/rule-routes.ts";
import { agentProfileHandlers } from "./agent-server/settings/agent-profile-routes.ts";
import { llmHandlers } from "./agent-server/settings/llm-routes.ts";
import { metaProfileHandlers } from "./agent-server/settings/meta-profile-routes.ts";
import { llmProfileHandlers } from "./agent-server/settings/profile-routes.ts";
import { revisionHandlers } from "./agent-server/settings/revision-routes.ts";
import { agentSettingsHandlers } from "./agent-server/settings/settings-routes.ts";
import { appConversationHandlers } from "./app-server/app-conversation-routes.ts";
import { appEventHandlers } from "./app-server/app-event-routes.ts";
import { appWorkspaceHandlers } from "./app-server/app-workspace-routes.ts";
import { profileHandlers } from "./app-server/profile-routes.ts";
import { noSandboxHandlers, sandboxHandlers } from "./app-server/sandbox-routes.ts";
import { startTaskHandlers } from "./app-server/start-task-routes.ts";
import { userSettingsHandlers } from "./app-server/user-settings-routes.ts";
import { keyHandlers } from "./logins/key-routes.ts";
import { shareHandlers } from "./logins/share-routes.ts";
import { loginHandlers } from "./logins/login-routes.ts";
import { oidcHandlers } from "./logins/oidc-routes.ts";
import { policyHandlers } from "./logins/policy-routes.ts";
import { userHandlers } from "./logins/user-routes.ts";
import { previewHandlers } from "./previews/preview-routes.ts";
import type { WorkspacePorts } from "./previews/workspace-ports.ts";
import { secretHandlers } from "./legacy/secret-routes.ts";
import { settingsHandlers } from "./legacy/settings-routes.ts";
import { agentServerHandlers, onFolders } from "./agent-server-handlers.ts";
import type { FaceDeps } from "./face-deps.ts";
import { openAiHandlers } from "./openai/openai-routes.ts";

/** Every REST surface of the server: one line for each table of routes. */
export function openFaces(deps: FaceDeps, ports: WorkspacePorts): Face[] {
  const { sandboxes, toolHost } = deps;
  return [
    face(agentServerRoutes, agentServerHandlers(deps), { startConversation: deps.complete }),
    face(agentSettingsRoutes, agentSettingsHandlers(deps)),
    face(llmProfileRoutes, llmProfileHandlers(deps)),
    face(agentProfileRoutes, agentProfileHandlers(deps)),
    face(
      {
        ...modelRevisionRoutes,
        ...agentRevisionRoutes,
        ...metaRevisionRoutes,
        ...connectionRevisionRoutes,
        ...settingsRevisionRoutes,
      },
      revisionHandlers(deps),
    ),
    face(llmRoutes, llmHandlers(deps)),
    face(metaProfileRoutes, metaProfileHandlers(deps)),
    face(installedRoutes, onFolders(installedHandlers(deps), deps)),
    face(canvasExtensionRoutes, canvasExtensionHandlers(deps)),
    face(controlRoutes, { ...controlHandlers(deps), ...loadPluginHandlers(deps) }),
    face(ruleRoutes, ruleHandlers(deps)),
    face(overviewRoutes, { ...overviewHandlers(deps), ...pastHandlers(deps), ...replayHandlers(deps) }),
    face(searchRoutes, searchHandlers(deps)),
    face(terminalRoutes, terminalHandlers(deps)),
    face(shellRoutes, shellHandlers(deps)),
    face(previewRoutes, previewHandlers(deps, ports)),
    face(conversationMachineRoutes, conversationMachineHandlers(deps)),
    face(onConversationMachineRoutes, onConversationMachineHandlers(deps)),
    face(conversationFileRoutes, conversationFileHandlers(deps)),
    face(childConversationRoutes, childHandlers(deps)),
    face(catalogRoutes, {
      ...catalogHandlers(deps, selectableTools(toolHost.catalogue)),
      ...acpModelHandlers(deps),
    }),
    face(legacyRoutes, { ...settingsHandlers(deps), ...secretHandlers(deps) }),
    face(appServerRoutes, { ...userSettingsHandlers(deps), ...profileHandlers(deps) }),
    face(appEventRoutes, appEventHandlers(deps)),
    // Fixed paths stand before those with a parameter in their place.
    face(startTaskRoutes, startTaskHandlers(deps)),
    face(appConversationRoutes, appConversationHandlers(deps)),
    face(appWorkspaceRoutes, appWorkspaceHandlers(deps)),
    face(mcpRoutes, mcpHandlers(deps)),
    face(openAiRoutes, openAiHandlers(deps)),
    face(importRoutes, importHandlers(deps)),
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
      sandboxes === null ? noSandboxHandlers() : sandboxHandlers({ sandboxes }),
    ),
  ];
}

/** Webhook receivers belong to the operator, and their addresses are often secret: others see none. */
function webhookHandlers({ webhooks }: FaceDeps): Handlers<typeof webhookRoutes> {
  return {
    listWebhooks: ({ caller }) => ({
      json: { webhooks: isOperator(caller) ? webhooks.status : [] },
    }),
  };
}
