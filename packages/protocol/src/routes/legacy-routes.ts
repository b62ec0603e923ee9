import { Type } from "typebox";
import { HTTPValidationError } from "../requests/replies.ts";
import { POSTProviderModel } from "../settings/provider-token.ts";
import {
  CustomSecretModel,
  CustomSecretUpdate,
  EditResponse,
  GETCustomSecrets,
  OldRefusal,
} from "../settings/secret.ts";
import { Settings, SettingsStored, SettingsUpdate } from "../settings/settings.ts";
import { tolerateSettings } from "../settings/tolerate-settings.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const secretParams = Type.Object({ secret_id: Type.String() });
const refusal = { schema: OldRefusal };

/** A user's settings and secrets in the form of the contract and older clients. Source: contract 4.3. */
export const legacyRoutes = routesOf("Settings", {
  loadSettings: {
    method: "GET",
    path: "/api/settings",
    summary: "Read one's settings; defaults when none were stored, secrets never",
    auth: true,
    responses: ok("The settings.", Settings),
  },
  storeSettings: {
    method: "POST",
    path: "/api/settings",
    summary: "Change some settings; what is not named stays",
    auth: true,
    body: SettingsUpdate,
    tolerateBody: tolerateSettings,
    responses: { ...ok("Stored.", SettingsStored), ...invalid },
  },
  resetSettings: {
    method: "POST",
    path: "/api/reset-settings",
    summary: "Gone: settings are changed one by one",
    auth: true,
    responses: { 410: { description: "This route is gone.", ...refusal } },
  },
  listSecretNames: {
    method: "GET",
    path: "/api/secrets",
    summary: "Names and descriptions of one's secrets",
    auth: true,
    responses: ok("The secrets without their values.", GETCustomSecrets),
  },
  createSecret: {
    method: "POST",
    path: "/api/secrets",
    summary: "Store a new secret",
    auth: true,
    body: CustomSecretModel,
    responses: {
      201: { description: "Stored.", schema: EditResponse },
      400: { description: "There is one with this name, or there are too many.", ...refusal },
      422: { description: "The request is not valid.", schema: HTTPValidationError },
    },
  },
  updateSecret: {
    method: "PUT",
    path: "/api/secrets/{secret_id}",
    summary: "Rename or describe a secret; its value stays",
    auth: true,
    params: secretParams,
    body: CustomSecretUpdate,
    responses: {
      ...ok("Changed.", EditResponse),
      400: { description: "Another one has this name.", ...refusal },
      404: { description: "There is no such secret.", ...refusal },
      ...invalid,
    },
  },
  deleteSecret: {
    method: "DELETE",
    path: "/api/secrets/{secret_id}",
    summary: "Remove a secret",
    auth: true,
    params: secretParams,
    responses: {
      ...ok("Removed.", EditResponse),
      404: { description: "There is no such secret.", ...refusal },
    },
  },
  storeProviderTokens: {
    method: "POST",
    path: "/api/add-git-providers",
    summary: "Store tokens of places where repositories are; those not named stay",
    auth: true,
    body: POSTProviderModel,
    tolerateBody: tolerateSettings,
    responses: { ...ok("Stored.", EditResponse), ...invalid },
  },
  unsetProviderTokens: {
    method: "POST",
    path: "/api/unset-provider-tokens",
    summary: "Remove all such tokens",
    auth: true,
    responses: ok("Removed.", EditResponse),
  },
});
export type LegacyOperation = keyof typeof legacyRoutes;
