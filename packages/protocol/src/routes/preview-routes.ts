import { OpenedPreview, OpenPreviewRequest, WorkspacePortList } from "../conversation/previews.ts";
import { ErrorReply } from "../requests/replies.ts";
import { conversationParams } from "./parameters.ts";
import { conflict, invalid, machineRefusals, noConversation } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** Previews of ports that programs of a workspace listen on. A preview is served below its own address, `/previews/{capability}/`. */
export const previewRoutes = routesOf("Previews", {
  listPorts: {
    method: "GET",
    path: "/api/conversations/{conversation_id}/ports",
    summary: "The ports that programs of the conversation's workspace listen on, by number",
    auth: true,
    params: conversationParams,
    responses: { ...ok("The ports.", WorkspacePortList), ...machineRefusals, ...noConversation, ...conflict },
  },
  openPreview: {
    method: "POST",
    path: "/api/conversations/{conversation_id}/previews",
    summary: "Make an address at which a port of the workspace is shown to browsers, for an hour",
    auth: true,
    params: conversationParams,
    body: OpenPreviewRequest,
    responses: {
      201: { description: "The address.", schema: OpenedPreview },
      ...machineRefusals,
      404: {
        description: "There is no such conversation, or no program of it listens there.",
        schema: ErrorReply,
      },
      ...conflict,
      ...invalid,
    },
  },
});
