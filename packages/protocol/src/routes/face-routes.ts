import { v1Routes } from "../app-server/v1-routes.ts";
import { agentServerRoutes } from "./agent-server-routes.ts";
import { agentSettingsRoutes } from "./agent-settings-routes.ts";
import { appServerRoutes } from "./app-server-routes.ts";
import { canvasExtensionRoutes } from "./canvas-extension-routes.ts";
import { installedRoutes } from "./installed-routes.ts";
import { legacyRoutes } from "./legacy-routes.ts";
import { agentProfileRoutes, llmProfileRoutes } from "./llm-profile-routes.ts";
import {
  agentRevisionRoutes,
  connectionRevisionRoutes,
  metaRevisionRoutes,
  modelRevisionRoutes,
  settingsRevisionRoutes,
} from "./revision-routes.ts";
import { llmRoutes } from "./llm-routes.ts";
import { demoRoutes } from "./demo-routes.ts";
import { importRoutes } from "./import-routes.ts";
import { retentionRoutes } from "./retention-routes.ts";
import { keyRoutes } from "./key-routes.ts";
import { loginRoutes } from "./login-routes.ts";
import { oidcRoutes } from "./oidc-routes.ts";
import { mcpRoutes } from "./mcp-routes.ts";
import { metricsRoutes } from "./metrics-routes.ts";
import { auditRoutes } from "./audit-routes.ts";
import { nodeRoutes } from "./node-routes.ts";
import { catalogRoutes } from "./catalog-routes.ts";
import { childConversationRoutes } from "./child-routes.ts";
import { metaProfileRoutes } from "./meta-profile-routes.ts";
import { openAiRoutes } from "./openai-routes.ts";
import { overviewRoutes } from "./overview-routes.ts";
import {
  conversationFileRoutes,
  onConversationMachineRoutes,
  conversationMachineRoutes,
} from "./conversation-machine-routes.ts";
import { searchRoutes } from "./search-routes.ts";
import { previewRoutes } from "./preview-routes.ts";
import { shellRoutes } from "./shell-routes.ts";
import { terminalRoutes } from "./terminal-routes.ts";
import { controlRoutes } from "./control-routes.ts";
import { ruleRoutes } from "./rule-routes.ts";
import { automationHookRoutes, automationRoutes, hookSecretRoutes } from "./automation-routes.ts";
import { policyRoutes } from "./policy-routes.ts";
import { shareRoutes } from "./share-routes.ts";
import { userRoutes } from "./user-routes.ts";
import { pushRoutes } from "./push-routes.ts";
import { webhookRoutes } from "./webhook-routes.ts";

/** All operations in the document of the agent-server face, by operation id. No route is served that is in neither table. */
export const agentFaceRoutes = {
  ...agentServerRoutes,
  ...controlRoutes,
  ...ruleRoutes,
  ...overviewRoutes,
  ...searchRoutes,
  ...terminalRoutes,
  ...shellRoutes,
  ...previewRoutes,
  ...conversationMachineRoutes,
  ...onConversationMachineRoutes,
  ...conversationFileRoutes,
  ...childConversationRoutes,
  ...catalogRoutes,
  ...metaProfileRoutes,
  ...agentSettingsRoutes,
  ...llmProfileRoutes,
  ...agentProfileRoutes,
  ...modelRevisionRoutes,
  ...agentRevisionRoutes,
  ...metaRevisionRoutes,
  ...connectionRevisionRoutes,
  ...settingsRevisionRoutes,
  ...llmRoutes,
  ...installedRoutes,
  ...canvasExtensionRoutes,
  ...mcpRoutes,
  ...openAiRoutes,
  ...webhookRoutes,
  ...pushRoutes,
  ...loginRoutes,
  ...oidcRoutes,
  ...keyRoutes,
  ...shareRoutes,
  ...userRoutes,
  ...policyRoutes,
  ...automationRoutes,
  ...hookSecretRoutes,
  ...automationHookRoutes,
  ...demoRoutes,
  ...importRoutes,
  ...retentionRoutes,
  ...metricsRoutes,
  ...auditRoutes,
  ...nodeRoutes,
};

/** All operations in the document of the app-server face, by operation id. */
export const appFaceRoutes = { ...legacyRoutes, ...appServerRoutes, ...v1Routes };
