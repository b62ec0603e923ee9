import type { ClientWorld } from "./client-world.ts";
import { cloudConversations, cloudSettings, hostedOnly } from "./scenarios/cloud.ts";
import { conversationClient, goalsAndBranches } from "./scenarios/conversation-client.ts";
import { conversationManager } from "./scenarios/conversation-manager.ts";
import { hooksAndSubAgents, mcp, plugins, skills } from "./scenarios/extensions.ts";
import { commands, files, savedWorkspaces, workspace } from "./scenarios/machine.ts";
import { callbackSocket, remoteConversation } from "./scenarios/remote-conversation.ts";
import { plainRequests, serverItself } from "./scenarios/server.ts";
import { absentFromMachine, agentProfiles, models, profiles, settings } from "./scenarios/settings.ts";

/** What the official client is asked to do, by name; none depends on another. */
export const scenarios: Readonly<Record<string, (world: ClientWorld) => Promise<void>>> = {
  "conversations by id": conversationClient,
  "goals and branches": goalsAndBranches,
  "a list of conversations": conversationManager,
  "a conversation with its socket": remoteConversation,
  "a socket alone": callbackSocket,
  "commands and their socket": commands,
  files: files,
  "a workspace": workspace,
  "saved workspaces": savedWorkspaces,
  "the server itself": serverItself,
  "plain requests": plainRequests,
  "settings and secrets": settings,
  "stored models": profiles,
  "stored agents": agentProfiles,
  "providers and models": models,
  "what machines do not have": absentFromMachine,
  skills: skills,
  plugins: plugins,
  "hooks and sub-agents": hooksAndSubAgents,
  "MCP servers": mcp,
  "settings of the V1 face": cloudSettings,
  "conversations of the V1 face": cloudConversations,
  "what only the hosted service has": hostedOnly,
};
