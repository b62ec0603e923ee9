import { Type } from "typebox";
import { OpenShellRequest, ShellList, ShellSummary } from "../conversation/shells.ts";
import { ErrorReply } from "../requests/replies.ts";
import { conversationParams } from "./parameters.ts";
import { conflict, done, invalid, machineRefusals, noConversation } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** A malformed id counts as unknown. */
const shellParams = Type.Object({ ...conversationParams.properties, shell_id: Type.String() });

/**
 * Shells of people in the workspace of a conversation, used over the socket `/sockets/shells/{conversation_id}?shell=...`.
 * Without a wall or sandbox they are on the machine itself, so the key of one conversation has none.
 */
export const shellRoutes = routesOf("Shells", {
  listShells: {
    method: "GET",
    path: "/api/conversations/{conversation_id}/shells",
    summary: "The shells that people have in the workspace of a conversation, the oldest first",
    auth: true,
    inScope: false,
    params: conversationParams,
    responses: { ...ok("The shells.", ShellList), ...machineRefusals, ...noConversation, ...conflict },
  },
  openShell: {
    method: "POST",
    path: "/api/conversations/{conversation_id}/shells",
    summary: "Start a shell of one's own, where the tools of the agent run",
    auth: true,
    inScope: false,
    params: conversationParams,
    body: OpenShellRequest,
    responses: {
      201: { description: "It runs.", schema: ShellSummary },
      ...machineRefusals,
      ...noConversation,
      409: {
        description: "As many are open as may be, or the workspace is not there now.",
        schema: ErrorReply,
      },
      ...invalid,
    },
  },
  endShell: {
    method: "DELETE",
    path: "/api/conversations/{conversation_id}/shells/{shell_id}",
    summary: "End a shell with everything that it started, and forget what it showed",
    auth: true,
    inScope: false,
    params: shellParams,
    responses: {
      ...done,
      ...machineRefusals,
      404: { description: "There is no such conversation or shell.", schema: ErrorReply },
      ...conflict,
    },
  },
});
