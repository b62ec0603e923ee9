import type { ClientWorld } from "./client-world.ts";
import { conversationClient, goalsAndBranches } from "./scenarios/conversation-client.ts";
import { conversationManager } from "./scenarios/conversation-manager.ts";
import { commands, files, savedWorkspaces, workspace } from "./scenarios/machine.ts";
import { callbackSocket, remoteConversation } from "./scenarios/remote-conversation.ts";
import { plainRequests, serverItself } from "./scenarios/server.ts";

/** What the official client is asked to do, by name; none depends on another. */
export const scenarios: Readonly<Record<string, (world: ClientWorld) => Promise<void>>> = {
  "conversations by id": conversationClient,
  "goals and branches": goalsAndBranches,
  "a list of conversations": conversationManager,
  "a conversation with its socket": remoteConversation,
  "a socket alone": callbackSocket,
  "commands and their socket": commands,
  "files": files,
  "a workspace": workspace,
  "saved workspaces": savedWorkspaces,
  "the server itself": serverItself,
  "plain requests": plainRequests,
};
