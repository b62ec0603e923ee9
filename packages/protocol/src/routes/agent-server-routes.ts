import { bashRoutes } from "./bash-routes.ts";
import { skillRoutes } from "./skill-routes.ts";
import { contextRoutes } from "./context-routes.ts";
import { conversationRoutes } from "./conversation-routes.ts";
import { eventRoutes } from "./event-routes.ts";
import { fileRoutes, trajectoryRoutes } from "./file-routes.ts";
import { gitRoutes } from "./git-routes.ts";
import { serverRoutes } from "./server-routes.ts";
import { withRole } from "./route.ts";
import { askRoutes } from "./control-routes.ts";
import { editorAndDesktopRoutes, savedWorkspaceRoutes, workspaceFileRoutes } from "./workspace-routes.ts";

/** Conversations and their logs. */
export const agentRoutes = {
  ...serverRoutes,
  ...conversationRoutes,
  ...eventRoutes,
  ...contextRoutes,
  ...askRoutes,
};

/** Commands, files and changes of one machine. Its files are more than conversations: keys of the server are among them. */
export const machineRoutes = { ...bashRoutes, ...withRole("member", { ...fileRoutes, ...gitRoutes }) };

/** Workspaces, and what people store. */
export const workspaceRoutes = {
  ...machineRoutes,
  ...trajectoryRoutes,
  ...savedWorkspaceRoutes,
  ...workspaceFileRoutes,
  ...editorAndDesktopRoutes,
};

/** Every route of the agent-server face by operation id. Fixed paths come before those with a parameter in the same place. */
export const agentServerRoutes = { ...agentRoutes, ...workspaceRoutes, ...skillRoutes };
export type AgentServerOperation = keyof typeof agentServerRoutes;
