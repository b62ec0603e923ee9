import { Type } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { mapOf } from "../schema.ts";
import { SettingsSchema } from "../settings/settings-form.ts";
import {
  MCPServerPatch,
  MCPServerSettings,
  SecretCreateRequest,
  SecretItemResponse,
  SecretsListResponse,
  SettingsPatch,
} from "../settings/settings-patch.ts";
import { Settings } from "../settings/settings.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const noSecret = { 404: { description: "There is no such secret.", schema: ErrorReply } } as const;
const noServer = { 404: { description: "There is no such MCP server.", schema: ErrorReply } } as const;
const serverParams = Type.Object({ settings_key: Type.String({ minLength: 1, maxLength: 128 }) });
const secretParams = Type.Object({ name: Type.String({ pattern: "^[a-zA-Z][a-zA-Z0-9_]{0,63}$" }) });

/**
 * The settings in the form of agent servers from 1.20 on. `GET /api/settings` is in the table of older clients and answers with both
 * forms.
 */
export const agentSettingsRoutes = routesOf("Settings", {
  patchSettings: {
    method: "PATCH",
    path: "/api/settings",
    summary: "Change some settings; what is not named stays, null removes",
    auth: true,
    body: SettingsPatch,
    responses: {
      ...ok("The settings after the change.", Settings),
      400: { description: "Nothing is named.", schema: ErrorReply },
      404: { description: "There is no such profile.", schema: ErrorReply },
      ...invalid,
    },
  },
  getAgentSchema: {
    method: "GET",
    path: "/api/settings/agent-schema",
    summary: "The fields of the agent settings, for drawing a form",
    auth: true,
    responses: ok("The form.", SettingsSchema),
  },
  getConversationSchema: {
    method: "GET",
    path: "/api/settings/conversation-schema",
    summary: "The fields of the conversation settings, for drawing a form",
    auth: true,
    responses: ok("The form.", SettingsSchema),
  },
  createMcpServer: {
    method: "POST",
    path: "/api/settings/mcp/{settings_key}",
    summary: "Add one MCP server",
    auth: true,
    params: serverParams,
    body: MCPServerSettings,
    responses: {
      201: { description: "The settings after the change.", schema: Settings },
      409: { description: "There is one with this name.", schema: ErrorReply },
      ...invalid,
    },
  },
  patchMcpServer: {
    method: "PATCH",
    path: "/api/settings/mcp/{settings_key}",
    summary: "Change some of one MCP server",
    auth: true,
    params: serverParams,
    body: MCPServerPatch,
    responses: { ...ok("The settings after the change.", Settings), ...noServer, ...invalid },
  },
  deleteMcpServer: {
    method: "DELETE",
    path: "/api/settings/mcp/{settings_key}",
    summary: "Remove one MCP server",
    auth: true,
    params: serverParams,
    responses: { ...ok("The settings after the change.", Settings), ...noServer },
  },
  listSettingsSecrets: {
    method: "GET",
    path: "/api/settings/secrets",
    summary: "Names and descriptions of one's secrets",
    auth: true,
    responses: ok("The secrets without their values.", SecretsListResponse),
  },
  putSettingsSecret: {
    method: "PUT",
    path: "/api/settings/secrets",
    summary: "Store a secret, new or in the place of the one with its name",
    auth: true,
    body: SecretCreateRequest,
    responses: {
      ...ok("Stored.", SecretItemResponse),
      409: { description: "There are as many as a user may have.", schema: ErrorReply },
      ...invalid,
    },
  },
  readSettingsSecret: {
    method: "GET",
    path: "/api/settings/secrets/{name}",
    summary: "The value of one of one's own secrets, as plain text",
    auth: true,
    role: "member",
    params: secretParams,
    responses: { 200: { description: "The value." }, ...noSecret, ...invalid },
  },
  deleteSettingsSecret: {
    method: "DELETE",
    path: "/api/settings/secrets/{name}",
    summary: "Remove a secret",
    auth: true,
    params: secretParams,
    responses: { ...ok("Removed.", mapOf(Type.Boolean())), ...noSecret, ...invalid },
  },
});
