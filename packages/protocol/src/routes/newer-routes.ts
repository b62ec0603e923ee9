import { Type } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { choice, orAbsent } from "../schema.ts";
import {
  ActivateMetaProfileResponse,
  MetaProfile,
  MetaProfileDetailResponse,
  MetaProfileListResponse,
  MetaProfileMutationResponse,
} from "../settings/meta-profile.ts";
import {
  ACPModelDiscovery,
  ACPModelDiscoveryRequest,
  GitProviderRepositoryPage,
  SkillCatalogResponse,
  ToolCatalogResponse,
} from "../workspace/catalogues.ts";
import { StartChildConversationRequest, StartChildConversationResponse } from "../workspace/runtime.ts";
import { conversationParams } from "./parameters.ts";
import { invalid, noConversation, ok } from "./responses.ts";
import { routesOf } from "./route.ts";

const named = {
  params: Type.Object({ name: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }) }),
};
const missing = { 404: { description: "There is no such meta profile.", schema: ErrorReply } } as const;

/** Stored and listed, but without effect. Source: agent server 1.58. */
export const metaProfileRoutes = routesOf("Meta profiles", {
  listMetaProfiles: {
    method: "GET",
    path: "/api/meta-profiles",
    summary: "The meta profiles of the caller",
    auth: true,
    responses: ok("The meta profiles.", MetaProfileListResponse),
  },
  getMetaProfile: {
    method: "GET",
    path: "/api/meta-profiles/{name}",
    summary: "One meta profile",
    auth: true,
    ...named,
    responses: { ...ok("The meta profile.", MetaProfileDetailResponse), ...missing, ...invalid },
  },
  saveMetaProfile: {
    method: "POST",
    path: "/api/meta-profiles/{name}",
    summary: "Store a meta profile under a name",
    auth: true,
    ...named,
    body: MetaProfile,
    responses: {
      201: { description: "Stored.", schema: MetaProfileMutationResponse },
      409: { description: "There are too many.", schema: ErrorReply },
      ...invalid,
    },
  },
  deleteMetaProfile: {
    method: "DELETE",
    path: "/api/meta-profiles/{name}",
    summary: "Remove a meta profile",
    auth: true,
    ...named,
    responses: { ...ok("It is not there any more.", MetaProfileMutationResponse), ...invalid },
  },
  activateMetaProfile: {
    method: "POST",
    path: "/api/meta-profiles/{name}/activate",
    summary: "Answer that nothing routes by meta profiles here",
    auth: true,
    ...named,
    responses: { ...ok("Not applied.", ActivateMetaProfileResponse), ...missing, ...invalid },
  },
});

/** Catalogues for clients. Source: agent server 1.58. */
export const catalogRoutes = routesOf("Catalogues", {
  getToolCatalog: {
    method: "GET",
    path: "/api/tools/catalog",
    summary: "The tools that an agent can ask for, with what people need to choose",
    auth: true,
    responses: ok("The tools.", ToolCatalogResponse),
  },
  getSkillCatalog: {
    method: "GET",
    path: "/api/skills/catalog",
    summary: "The skills of the server and of the caller, without those of a workspace",
    auth: true,
    responses: ok("The skills.", SkillCatalogResponse),
  },
  searchGitRepositories: {
    method: "GET",
    path: "/api/git/repositories/search",
    summary: "An empty page: the server asks no provider for repositories",
    auth: true,
    query: Type.Object({
      provider: choice(["github", "gitlab", "bitbucket", "azure_devops"]),
      query: orAbsent(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
      page_id: orAbsent(Type.String()),
    }),
    responses: { ...ok("The page.", GitProviderRepositoryPage), ...invalid },
  },
  listAcpModels: {
    method: "POST",
    path: "/api/acp/models",
    summary: "No models: agents behind the Agent Client Protocol are not started",
    auth: true,
    body: ACPModelDiscoveryRequest,
    responses: { ...ok("The models.", ACPModelDiscovery), ...invalid },
  },
});

/** Child conversations, and flushing to disk. Source: agent server 1.58. */
export const childConversationRoutes = routesOf("Conversations", {
  startChildConversation: {
    method: "POST",
    path: "/api/conversations/{conversation_id}/children",
    summary: "Give work to a new conversation that has what this one has",
    auth: true,
    params: conversationParams,
    body: StartChildConversationRequest,
    responses: {
      201: { description: "It runs.", schema: StartChildConversationResponse },
      ...noConversation,
      ...invalid,
    },
  },
  prepareForSandboxPause: {
    method: "POST",
    path: "/api/conversations/prepare-for-sandbox-pause",
    summary: "Answer that everything is on the disk already",
    auth: true,
    responses: { 204: { description: "The machine may be paused." } },
  },
});
