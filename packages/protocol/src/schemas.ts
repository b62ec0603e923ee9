import type { TSchema } from "typebox";
import * as actions from "./actions/action.ts";
import * as taskTracker from "./actions/task-tracker-action.ts";
import * as acpAgent from "./agent/acp-agent.ts";
import * as agent from "./agent/agent.ts";
import * as agentContext from "./agent/agent-context.ts";
import * as condenser from "./agent/condenser.ts";
import * as critic from "./agent/critic.ts";
import * as criticResult from "./agent/critic-result.ts";
import * as llm from "./agent/llm.ts";
import * as llmChange from "./agent/llm-change.ts";
import * as skill from "./agent/skill.ts";
import * as tool from "./agent/tool.ts";
import * as appConversation from "./app-server/app-conversation.ts";
import * as appMessage from "./app-server/app-message.ts";
import * as sandbox from "./app-server/sandbox.ts";
import * as startTask from "./app-server/start-task.ts";
import * as eventContext from "./conversation/event-context.ts";
import * as conversationInfo from "./conversation/conversation-info.ts";
import * as hookConfig from "./conversation/hook-config.ts";
import * as metrics from "./conversation/metrics.ts";
import * as approvalPolicy from "./conversation/approval-policy.ts";
import * as network from "./conversation/network.ts";
import * as wall from "./conversation/wall.ts";
import * as toolResults from "./conversation/tool-results.ts";
import * as turnControl from "./conversation/turn-control.ts";
import * as whileRunning from "./conversation/while-running.ts";
import * as search from "./conversation/search.ts";
import * as workspace from "./conversation/workspace.ts";
import * as events from "./events/event.ts";
import * as content from "./message/content.ts";
import * as message from "./message/message.ts";
import * as extensionActions from "./extensions/extension-actions.ts";
import * as extensionEvents from "./extensions/extension-events.ts";
import * as extensionObservations from "./extensions/extension-observations.ts";
import * as extensionTools from "./extensions/extension-tools.ts";
import * as agentDefinition from "./extensions/agent-definition.ts";
import * as clientToolSpec from "./extensions/client-tool-spec.ts";
import * as networkPolicy from "./extensions/network-policy.ts";
import * as sandboxSpecFile from "./extensions/sandbox-spec-file.ts";
import * as worktreeOptions from "./extensions/worktree-options.ts";
import * as requestExtensions from "./extensions/request-extensions.ts";
import * as fileObservations from "./observations/file-observations.ts";
import * as observations from "./observations/observation.ts";
import * as terminalObservation from "./observations/terminal-observation.ts";
import * as replies from "./requests/replies.ts";
import * as sendMessage from "./requests/send-message.ts";
import * as startConversation from "./requests/start-conversation.ts";
import * as stopConversation from "./requests/stop-conversation.ts";
import * as updateConversation from "./requests/update-conversation.ts";
import { nameOf } from "./schema.ts";
import * as confirmationPolicy from "./security/confirmation-policy.ts";
import * as rule from "./security/rule.ts";
import * as userPolicy from "./security/user-policy.ts";
import * as secretSource from "./security/secret-source.ts";
import * as securityAnalyzer from "./security/security-analyzer.ts";
import * as securityRisk from "./security/security-risk.ts";
import * as agentProfile from "./settings/agent-profile.ts";
import * as llmCatalogue from "./settings/llm-catalogue.ts";
import * as mcpRoutes from "./routes/mcp-routes.ts";
import * as auditRoutes from "./routes/audit-routes.ts";
import * as nodeRoutes from "./routes/node-routes.ts";
import * as openAiRoutes from "./routes/openai-routes.ts";
import * as demoRoutes from "./routes/demo-routes.ts";
import * as imports from "./conversation/import.ts";
import * as retention from "./conversation/retention.ts";
import * as keyRoutes from "./routes/key-routes.ts";
import * as automationTrigger from "./automations/automation-trigger.ts";
import * as automation from "./automations/automation.ts";
import * as automationRun from "./automations/automation-run.ts";
import * as shareRoutes from "./routes/share-routes.ts";
import * as userRoutes from "./routes/user-routes.ts";
import * as loginRoutes from "./routes/login-routes.ts";
import * as oidcRoutes from "./routes/oidc-routes.ts";
import * as pushRoutes from "./routes/push-routes.ts";
import * as webhookRoutes from "./routes/webhook-routes.ts";
import * as mcpConfig from "./settings/mcp-config.ts";
import * as profile from "./settings/profile.ts";
import * as profileRevision from "./settings/profile-revision.ts";
import * as providerToken from "./settings/provider-token.ts";
import * as secret from "./settings/secret.ts";
import * as settings from "./settings/settings.ts";
import * as settingsForm from "./settings/settings-form.ts";
import * as outline from "./conversation/outline.ts";
import * as past from "./conversation/past.ts";
import * as previews from "./conversation/previews.ts";
import * as replayCheck from "./conversation/replay-check.ts";
import * as shells from "./conversation/shells.ts";
import * as terminals from "./conversation/terminals.ts";
import * as glance from "./conversation/glance.ts";
import * as trimmedEvent from "./extensions/trimmed-event.ts";
import * as settingsPatch from "./settings/settings-patch.ts";
import * as webClient from "./settings/web-client.ts";
import * as mcpTool from "./tools/mcp-tool-definition.ts";
import * as toolAnnotations from "./tools/tool-annotations.ts";
import * as tools from "./tools/tool-definition.ts";
import * as bash from "./workspace/bash.ts";
import * as catalogue from "./workspace/catalogue.ts";
import * as commits from "./workspace/commits.ts";
import * as fileBrowser from "./workspace/file-browser.ts";
import * as folder from "./workspace/folder.ts";
import * as restore from "./workspace/restore.ts";
import * as files from "./workspace/files.ts";
import * as git from "./workspace/git.ts";
import * as health from "./workspace/health.ts";
import * as installed from "./workspace/installed.ts";
import * as fetched from "./workspace/fetched.ts";
import * as canvasExtension from "./workspace/canvas-extension.ts";
import * as acpModels from "./workspace/acp-models.ts";
import * as catalogues from "./workspace/catalogues.ts";
import * as metaProfile from "./settings/meta-profile.ts";
import * as runtime from "./workspace/runtime.ts";
import * as savedWorkspaces from "./workspace/saved-workspaces.ts";
import * as serverInfo from "./workspace/server-info.ts";

/** Every named schema of the contract by its component name. */
export const contractSchemas: ReadonlyMap<string, TSchema> = byName([
  ...Object.values(events.eventSchemaByKind),
  ...Object.values(actions.actionSchemaByKind),
  ...Object.values(observations.observationSchemaByKind),
  ...Object.values(tools.toolDefinitionSchemaByKind),
  ...namedIn(events, actions, taskTracker, observations, fileObservations, terminalObservation),
  ...namedIn(tools, mcpTool, toolAnnotations, content, message),
  ...namedIn(agent, agentContext, condenser, critic, criticResult, llm, skill, tool),
  ...namedIn(confirmationPolicy, secretSource, securityAnalyzer, securityRisk),
  ...namedIn(conversationInfo, hookConfig, metrics, workspace),
  replies.Success,
  replies.ValidationError,
  replies.HTTPValidationError,
  ...namedIn(sendMessage, startConversation, updateConversation),
  ...namedIn(bash, catalogue, files, git, serverInfo),
]);

/** All named schemas, including those beyond the contract: newer kinds, and replies of older routes. */
export const allSchemas: ReadonlyMap<string, TSchema> = new Map([
  ...contractSchemas,
  ...byName(namedIn(extensionActions, extensionEvents, extensionObservations, extensionTools)),
  ...byName(
    namedIn(
      agentDefinition,
      clientToolSpec,
      networkPolicy,
      requestExtensions,
      sandboxSpecFile,
      worktreeOptions,
    ),
  ),
  ...byName(namedIn(stopConversation, eventContext, approvalPolicy, network, wall, turnControl, rule)),
  ...byName(namedIn(toolResults, whileRunning)),
  ...byName(namedIn(folder, glance, outline, past, previews)),
  ...byName(namedIn(replayCheck, restore, search, shells, terminals, trimmedEvent)),
  ...byName(
    namedIn(
      commits,
      fileBrowser,
      health,
      savedWorkspaces,
      acpAgent,
      acpModels,
      catalogues,
      metaProfile,
      runtime,
    ),
  ),
  ...byName(namedIn(mcpConfig, profile, providerToken, secret, settings, settingsForm, webClient)),
  ...byName(
    namedIn(
      agentProfile,
      profileRevision,
      llmCatalogue,
      llmChange,
      settingsPatch,
      installed,
      fetched,
      canvasExtension,
    ),
  ),
  ...byName(namedIn(appConversation, appMessage, sandbox, startTask)),
  ...byName(
    namedIn(
      mcpRoutes,
      openAiRoutes,
      pushRoutes,
      webhookRoutes,
      loginRoutes,
      oidcRoutes,
      keyRoutes,
      shareRoutes,
      auditRoutes,
      userRoutes,
      userPolicy,
      nodeRoutes,
      demoRoutes,
      imports,
      retention,
    ),
  ),
  ...byName(namedIn(automationTrigger, automation, automationRun)),
  ...byName([replies.ErrorReply, replies.FileUploadResult]),
]);

function namedIn(...modules: object[]): TSchema[] {
  return modules.flatMap((module) => Object.values(module).filter(isNamedSchema));
}

function isNamedSchema(value: unknown): value is TSchema {
  return typeof value === "object" && value !== null && typeof (value as { $id?: unknown }).$id === "string";
}

function byName(schemas: readonly (TSchema | undefined)[]): Map<string, TSchema> {
  const named = new Map<string, TSchema>();
  for (const schema of schemas) {
    if (schema !== undefined) named.set(nameOf(schema), schema);
  }
  return named;
}
