import { Type } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { orAbsent } from "../schema.ts";
import { POSTProviderModel } from "../settings/provider-token.ts";
import { CustomSecretModel, CustomSecretPage, CustomSecretUpdate, EditResponse } from "../settings/secret.ts";
import { SettingsSchema } from "../settings/settings-form.ts";
import { SettingsStored, SettingsUpdate, UserInfo, V1Settings } from "../settings/settings.ts";
import { tolerateSettings } from "../settings/tolerate-settings.ts";
import { WebClientConfig } from "../settings/web-client.ts";
import { pageLimit } from "./parameters.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const secretParams = Type.Object({ secret_id: Type.String() });
const missing = { 404: { description: "There is no such secret.", schema: ErrorReply } } as const;
const taken = {
  409: { description: "The name is taken, or there are too many secrets.", schema: ErrorReply },
} as const;

/** Settings and secrets in the form of newer clients. */
export const appSettingsRoutes = routesOf("User settings", {
  loadUserSettings: {
    method: "GET",
    path: "/api/v1/settings",
    summary: "Read one's settings; defaults when none were stored, secrets never",
    auth: true,
    responses: ok("The settings.", V1Settings),
  },
  storeUserSettings: {
    method: "POST",
    path: "/api/v1/settings",
    summary: "Change some settings; what is not named stays, nested ones are merged",
    auth: true,
    body: SettingsUpdate,
    tolerateBody: tolerateSettings,
    responses: { ...ok("Stored.", SettingsStored), ...invalid },
  },
  getAgentSettingsForm: {
    method: "GET",
    path: "/api/v1/settings/agent-schema",
    summary: "The fields of the agent settings, for drawing a form",
    auth: true,
    responses: ok("The form.", SettingsSchema),
  },
  getConversationSettingsForm: {
    method: "GET",
    path: "/api/v1/settings/conversation-schema",
    summary: "The fields of the conversation settings, for drawing a form",
    auth: true,
    responses: ok("The form.", SettingsSchema),
  },
  searchSecrets: {
    method: "GET",
    path: "/api/v1/secrets/search",
    summary: "Page through the names of one's secrets",
    auth: true,
    query: Type.Object({
      name__contains: orAbsent(Type.String(), { description: "Only names with this text, in any case." }),
      page_id: orAbsent(Type.String(), { description: "The next_page_id of the page before." }),
      limit: pageLimit,
    }),
    responses: { ...ok("A page of secrets without their values.", CustomSecretPage), ...invalid },
  },
  putSecret: {
    method: "POST",
    path: "/api/v1/secrets",
    summary: "Store a secret, new or in the place of the one with its name",
    auth: true,
    body: CustomSecretModel,
    responses: { 201: { description: "Stored.", schema: EditResponse }, ...taken, ...invalid },
  },
  storeGitProviders: {
    method: "POST",
    path: "/api/v1/secrets/git-providers",
    summary: "Store tokens of places where repositories are; those not named stay",
    auth: true,
    body: POSTProviderModel,
    tolerateBody: tolerateSettings,
    responses: { ...ok("Stored.", EditResponse), ...invalid },
  },
  removeGitProviders: {
    method: "DELETE",
    path: "/api/v1/secrets/git-providers",
    summary: "Remove all such tokens",
    auth: true,
    responses: ok("Removed.", EditResponse),
  },
  renameSecret: {
    method: "PUT",
    path: "/api/v1/secrets/{secret_id}",
    summary: "Rename or describe a secret; its value stays",
    auth: true,
    params: secretParams,
    body: CustomSecretUpdate,
    responses: { ...ok("Changed.", EditResponse), ...missing, ...taken, ...invalid },
  },
  removeSecret: {
    method: "DELETE",
    path: "/api/v1/secrets/{secret_id}",
    summary: "Remove a secret",
    auth: true,
    params: secretParams,
    responses: { ...ok("Removed.", EditResponse), ...missing },
  },
  getCurrentUser: {
    method: "GET",
    path: "/api/v1/users/me",
    summary: "Who the caller is, with the settings",
    auth: true,
    responses: ok("The caller.", UserInfo),
  },
  getWebClientConfig: {
    method: "GET",
    path: "/api/v1/web-client/config",
    summary: "What a web client needs before anybody has signed in",
    auth: false,
    responses: ok("The configuration.", WebClientConfig),
  },
});
