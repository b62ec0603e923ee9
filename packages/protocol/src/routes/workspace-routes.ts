import { Type } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { mapOf } from "../schema.ts";
import {
  AddWorkspaceParentsRequest,
  AddWorkspacesRequest,
  DeleteResponse,
  WorkspacesListResponse,
} from "../workspace/saved-workspaces.ts";
import { DesktopUrlResponse, VSCodeUrlResponse } from "../workspace/server-info.ts";
import { conversationParams } from "./parameters.ts";
import { invalid, noConversation } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const saved = ok("All that is stored.", WorkspacesListResponse);
const full = { 409: { description: "Too many are stored.", schema: ErrorReply } } as const;
const notListed = { 404: { description: "It is not stored.", schema: ErrorReply } } as const;
const atPath = { query: Type.Object({ path: Type.String({ minLength: 1 }) }) };
const off = { 503: { description: "This server has none.", schema: ErrorReply } } as const;
const file = {
  method: "GET",
  summary: "A file of a conversation's workspace, as web pages need it; of a directory its index.html",
  auth: true,
  acceptsCookie: true,
  responses: {
    200: { description: "The bytes." },
    ...noConversation,
    400: { description: "The path leads out of the workspace.", schema: ErrorReply },
    ...invalid,
  },
} as const;

/** Directories that a user has stored. Source: agent server 1.43. */
export const savedWorkspaceRoutes = routesOf("Workspaces", {
  listWorkspaces: {
    method: "GET",
    path: "/api/workspaces",
    summary: "One's stored workspaces and the directories above them",
    auth: true,
    responses: saved,
  },
  addWorkspaces: {
    method: "POST",
    path: "/api/workspaces",
    summary: "Store workspaces; of two with the same path the first stays",
    auth: true,
    body: AddWorkspacesRequest,
    responses: { ...saved, ...full, ...invalid },
  },
  deleteWorkspace: {
    method: "DELETE",
    path: "/api/workspaces",
    summary: "Forget a workspace; its files stay",
    auth: true,
    ...atPath,
    responses: { ...ok("It was there.", DeleteResponse), ...notListed, ...invalid },
  },
  addWorkspaceParents: {
    method: "POST",
    path: "/api/workspaces/parents",
    summary: "Store directories below which workspaces are",
    auth: true,
    body: AddWorkspaceParentsRequest,
    responses: { ...saved, ...full, ...invalid },
  },
  deleteWorkspaceParent: {
    method: "DELETE",
    path: "/api/workspaces/parents",
    summary: "Forget such a directory; its files stay",
    auth: true,
    ...atPath,
    responses: { ...ok("It was there.", DeleteResponse), ...notListed, ...invalid },
  },
});

/** Files of a conversation for web pages, which cannot send a header. */
export const workspaceFileRoutes = routesOf("Workspace files", {
  createWorkspaceSession: {
    method: "POST",
    path: "/api/auth/workspace-session",
    summary:
      "Give the caller's browser a cookie that opens the files of the caller's conversations for an hour",
    auth: true,
    role: "viewer",
    responses: { 204: { description: "The cookie comes with the answer." } },
  },
  deleteWorkspaceSession: {
    method: "DELETE",
    path: "/api/auth/workspace-session",
    summary: "Take the cookie back",
    auth: true,
    role: "viewer",
    responses: { 204: { description: "The browser forgets it." } },
  },
  serveWorkspaceRoot: {
    ...file,
    path: "/api/conversations/{conversation_id}/workspace",
    params: conversationParams,
  },
  serveWorkspaceFile: {
    ...file,
    path: "/api/conversations/{conversation_id}/workspace/{file_path}",
    params: Type.Object({ ...conversationParams.properties, file_path: Type.String() }),
    restParameter: "file_path",
  },
});

/** An editor and a desktop in the browser, which this server does not have. */
export const editorAndDesktopRoutes = routesOf("Editor and desktop", {
  getVSCodeUrl: {
    method: "GET",
    path: "/api/vscode/url",
    summary: "Address of the editor",
    auth: true,
    query: Type.Object({
      base_url: Type.Optional(Type.String()),
      workspace_dir: Type.Optional(Type.String({ default: "workspace" })),
    }),
    responses: { ...ok("The address.", VSCodeUrlResponse), ...off, ...invalid },
  },
  getVSCodeStatus: {
    method: "GET",
    path: "/api/vscode/status",
    summary: "Whether there is an editor",
    auth: true,
    responses: ok("The status.", mapOf(Type.Union([Type.Boolean(), Type.String()]))),
  },
  getDesktopUrl: {
    method: "GET",
    path: "/api/desktop/url",
    summary: "Address of the desktop",
    auth: true,
    query: Type.Object({ base_url: Type.Optional(Type.String()) }),
    responses: { ...ok("The address.", DesktopUrlResponse), ...off, ...invalid },
  },
});
