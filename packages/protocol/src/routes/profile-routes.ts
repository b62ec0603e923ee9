import { Type } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import {
  ActivateProfileResponse,
  ProfileDetailResponse,
  ProfileListResponse,
  ProfileMutationResponse,
  RenameProfileRequest,
  SaveProfileRequest,
} from "../settings/profile.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const prefix = "/api/v1/settings/profiles";
const params = Type.Object({ name: Type.String() });
const missing = { 404: { description: "There is no such profile.", schema: ErrorReply } } as const;
const taken = {
  409: { description: "The name is taken, or there are too many profiles.", schema: ErrorReply },
} as const;

/** Stored models. */
export const profileRoutes = routesOf("Profiles", {
  listProfiles: {
    method: "GET",
    path: prefix,
    summary: "The stored models, and which one is in use",
    auth: true,
    responses: ok("The profiles.", ProfileListResponse),
  },
  getProfile: {
    method: "GET",
    path: `${prefix}/{name}`,
    summary: "One stored model, without its secrets",
    auth: true,
    params,
    responses: { ...ok("The profile.", ProfileDetailResponse), ...missing, ...invalid },
  },
  saveProfile: {
    method: "POST",
    path: `${prefix}/{name}`,
    summary: "Store a model, or the one of the settings, under a name",
    auth: true,
    params,
    body: SaveProfileRequest,
    isBodyOptional: true,
    responses: {
      201: { description: "Stored.", schema: ProfileMutationResponse },
      ...taken,
      ...invalid,
    },
  },
  deleteProfile: {
    method: "DELETE",
    path: `${prefix}/{name}`,
    summary: "Remove a stored model; the settings keep theirs",
    auth: true,
    params,
    responses: { ...ok("It is not there any more.", ProfileMutationResponse), ...invalid },
  },
  activateProfile: {
    method: "POST",
    path: `${prefix}/{name}/activate`,
    summary: "Use a stored model for new conversations",
    auth: true,
    params,
    responses: { ...ok("It is in use.", ActivateProfileResponse), ...missing, ...invalid },
  },
  renameProfile: {
    method: "POST",
    path: `${prefix}/{name}/rename`,
    summary: "Give a stored model another name",
    auth: true,
    params,
    body: RenameProfileRequest,
    responses: { ...ok("Renamed.", ProfileMutationResponse), ...missing, ...taken, ...invalid },
  },
});
