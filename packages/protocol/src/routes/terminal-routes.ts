import { TerminalList } from "../conversation/terminals.ts";
import { conversationParams } from "./parameters.ts";
import { conflict, noConversation } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** The agent's terminals. People attach to one over the socket `/sockets/terminals/{conversation_id}`. */
export const terminalRoutes = routesOf("Terminals", {
  listTerminals: {
    method: "GET",
    path: "/api/conversations/{conversation_id}/terminals",
    summary: "The terminals of a conversation that are open, by name",
    auth: true,
    params: conversationParams,
    responses: { ...ok("The terminals.", TerminalList), ...noConversation, ...conflict },
  },
});
