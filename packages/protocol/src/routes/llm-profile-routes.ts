import { Type } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { anyObject } from "../schema.ts";
import {
  ActivateAgentProfileResponse,
  AgentProfileDetailResponse,
  AgentProfileDiagnostics,
  AgentProfileListResponse,
  AgentProfileMutationResponse,
} from "../settings/agent-profile.ts";
import {
  ProfileDetailResponse,
  ProfileMutationResponse,
  RenameProfileRequest,
  SaveProfileRequest,
} from "../settings/profile.ts";
import {
  LLMProfileActivated,
  LLMProfileList,
  ValidateProfileRequest,
  ValidateProfileResponse,
} from "../settings/settings-patch.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const params = Type.Object({
  name: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }),
});
const missing = { 404: { description: "There is no such profile.", schema: ErrorReply } } as const;
const refused = {
  409: {
    description: "The name is taken, the profile is in use, or there are too many.",
    schema: ErrorReply,
  },
} as const;

/** Stored models on the agent-server face; the other face has the same ones. */
export const llmProfileRoutes = routesOf("Profiles", {
  listLlmProfiles: {
    method: "GET",
    path: "/api/profiles",
    summary: "The stored models, and which one is in use",
    auth: true,
    responses: ok("The profiles.", LLMProfileList),
  },
  getLlmProfile: {
    method: "GET",
    path: "/api/profiles/{name}",
    summary: "One stored model; its secrets as X-Expose-Secrets says",
    auth: true,
    params,
    responses: { ...ok("The profile.", ProfileDetailResponse), ...missing, ...invalid },
  },
  saveLlmProfile: {
    method: "POST",
    path: "/api/profiles/{name}",
    summary: "Store a model, or the one of the settings, under a name",
    auth: true,
    params,
    body: SaveProfileRequest,
    responses: { 201: { description: "Stored.", schema: ProfileMutationResponse }, ...refused, ...invalid },
  },
  deleteLlmProfile: {
    method: "DELETE",
    path: "/api/profiles/{name}",
    summary: "Remove a stored model; the settings keep theirs",
    auth: true,
    params,
    responses: { ...ok("It is not there any more.", ProfileMutationResponse), ...refused, ...invalid },
  },
  renameLlmProfile: {
    method: "POST",
    path: "/api/profiles/{name}/rename",
    summary: "Give a stored model another name; references to it follow",
    auth: true,
    params,
    body: RenameProfileRequest,
    responses: { ...ok("Renamed.", ProfileMutationResponse), ...missing, ...refused, ...invalid },
  },
  activateLlmProfile: {
    method: "POST",
    path: "/api/profiles/{name}/activate",
    summary: "Use a stored model for new conversations",
    auth: true,
    params,
    responses: { ...ok("It is in use.", LLMProfileActivated), ...missing, ...invalid },
  },
  validateLlmProfile: {
    method: "POST",
    path: "/api/profiles/{name}/validate",
    summary: "Try a model out with the smallest possible call",
    auth: true,
    params,
    body: ValidateProfileRequest,
    responses: { ...ok("The verdict.", ValidateProfileResponse), ...invalid },
  },
});

/** Agent profiles, which consist of references. */
export const agentProfileRoutes = routesOf("Agent profiles", {
  listAgentProfiles: {
    method: "GET",
    path: "/api/agent-profiles",
    summary: "The agent profiles, and which one is in use",
    auth: true,
    responses: ok("The profiles.", AgentProfileListResponse),
  },
  getAgentProfile: {
    method: "GET",
    path: "/api/agent-profiles/{name}",
    summary: "One agent profile",
    auth: true,
    params,
    responses: { ...ok("The profile.", AgentProfileDetailResponse), ...missing, ...invalid },
  },
  saveAgentProfile: {
    method: "POST",
    path: "/api/agent-profiles/{name}",
    summary: "Store an agent profile under a name",
    auth: true,
    params,
    body: anyObject({ description: "An OpenHandsAgentProfile or an ACPAgentProfile, as agent_kind says." }),
    responses: {
      201: { description: "Stored.", schema: AgentProfileMutationResponse },
      ...refused,
      ...invalid,
    },
  },
  deleteAgentProfile: {
    method: "DELETE",
    path: "/api/agent-profiles/{name}",
    summary: "Remove an agent profile",
    auth: true,
    params,
    responses: { ...ok("It is not there any more.", AgentProfileMutationResponse), ...invalid },
  },
  renameAgentProfile: {
    method: "POST",
    path: "/api/agent-profiles/{name}/rename",
    summary: "Give an agent profile another name; its id stays",
    auth: true,
    params,
    body: RenameProfileRequest,
    responses: { ...ok("Renamed.", AgentProfileMutationResponse), ...missing, ...refused, ...invalid },
  },
  activateAgentProfile: {
    method: "POST",
    path: "/api/agent-profiles/{profile_id}/activate",
    summary: "Use an agent profile for new conversations",
    auth: true,
    params: Type.Object({ profile_id: Type.String({ minLength: 1, maxLength: 128 }) }),
    responses: { ...ok("It is in use.", ActivateAgentProfileResponse), ...missing, ...invalid },
  },
  materializeAgentProfile: {
    method: "POST",
    path: "/api/agent-profiles/{name}/materialize",
    summary: "What launching the agent profile would lead to",
    auth: true,
    params,
    responses: { ...ok("The findings.", AgentProfileDiagnostics), ...missing, ...invalid },
  },
});
