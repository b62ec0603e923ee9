import { contextRoutes } from "./context-routes.ts";
import { conversationRoutes } from "./conversation-routes.ts";
import { eventRoutes } from "./event-routes.ts";
import { serverRoutes } from "./server-routes.ts";

/** Every route of the agent-server face by operation id. Fixed paths stand before those with a parameter in their place. */
export const agentServerRoutes = { ...serverRoutes, ...conversationRoutes, ...eventRoutes, ...contextRoutes };
export type AgentServerOperation = keyof typeof agentServerRoutes;
