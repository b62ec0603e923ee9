import type { ToolHost } from "@convoke/tool-host";
import type { OpenAppConversations } from "../app-conversations/open-app-conversations.ts";
import type { Directory } from "../directory/directory.ts";
import type { PageCache } from "../events/page-cache.ts";
import type { TrimmedEvents } from "../events/trimmed-events.ts";
import type { RouteHandler } from "../http/mount.ts";
import type { Journal } from "../journal/journal.ts";
import type { ProfileHistory } from "../settings/profile-history.ts";
import type { ExtensionSources } from "../extensions/sources/extension-sources.ts";
import type { SettingsStore } from "../settings/settings-store.ts";
import type { SkillAccess } from "../tools/session-skills.ts";
import type { RequireMachine } from "../workspaces/machine-policy.ts";
import { askHandlers } from "./agent-server/conversations/ask-routes.ts";
import { contextHandlers } from "./agent-server/conversations/context-routes.ts";
import { conversationHandlers } from "./agent-server/conversations/conversation-routes.ts";
import { eventHandlers } from "./agent-server/events/event-routes.ts";
import { skillHandlers, type SkillRouteDeps } from "./agent-server/extensions/skill-routes.ts";
import { workspaceHandlers, type WorkspaceHandlersDeps } from "./agent-server/machines/workspace-handlers.ts";
import { serverHandlers, type ServerRouteDeps } from "./agent-server/server/server-routes.ts";
import { deletionHandlers } from "./app-server/app-conversation-routes.ts";

export type AgentServerDeps = WorkspaceHandlersDeps &
  ServerRouteDeps & {
    readonly journal: Journal;
    readonly directory: Directory;
    readonly trimmed: TrimmedEvents;
    readonly pages: PageCache;
    readonly toolHost: ToolHost;
    readonly settings: SettingsStore;
    readonly profileHistory: ProfileHistory;
    readonly skills: SkillAccess;
    /** Opens folders and git repositories that requests name. */
    readonly sources: ExtensionSources;
    readonly appConversations: OpenAppConversations;
    /** Absolute. */
    readonly workspaceRoot: string;
    /** Decides who may use the server's machine. */
    readonly requireMachine: RequireMachine;
  };

/** The handlers of `agentServerRoutes`, which sandboxes show in part. */
export function agentServerHandlers(deps: AgentServerDeps) {
  return {
    ...serverHandlers(deps),
    ...conversationHandlers({
      ...deps,
      plugins: { settings: deps.settings, sources: deps.sources },
    }),
    ...deletionHandlers(deps),
    ...eventHandlers(deps),
    ...contextHandlers(deps),
    ...askHandlers(deps),
    ...workspaceHandlers(deps),
    ...onFolders(skillHandlers(skillRouteDeps(deps)), deps),
  };
}

/** What the routes of skills need. */
export function skillRouteDeps({
  settings,
  skills,
  sources,
  toolHost,
  workspaceRoot,
}: AgentServerDeps): SkillRouteDeps {
  const { files, home, publicFolder } = skills.server;
  return { settings, sources, files: skills.filesOf(toolHost) ?? files, home, publicFolder, workspaceRoot };
}

/** Handlers that read a folder of the server's machine that the caller names. */
export function onFolders<Handlers extends Record<string, RouteHandler>>(
  handlers: Handlers,
  { requireMachine }: Pick<AgentServerDeps, "requireMachine">,
): Handlers {
  const guarded = Object.entries(handlers).map(([operation, handle]): [string, RouteHandler] => [
    operation,
    (request) => {
      const { project_dir: folder } = (request.body ?? {}) as Record<string, unknown>;
      if (folder) requireMachine(request.caller.userId);
      return handle(request);
    },
  ]);
  return Object.fromEntries(guarded) as Handlers;
}
