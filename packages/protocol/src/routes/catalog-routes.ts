import { Type } from "typebox";
import { choice, orAbsent } from "../schema.ts";
import { ACPModelDiscovery, ACPModelDiscoveryRequest } from "../workspace/acp-models.ts";
import {
  GitProviderRepositoryPage,
  SkillCatalogResponse,
  ToolCatalogResponse,
} from "../workspace/catalogues.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

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
    summary: "The models of another agent, which is started for the question and ended again",
    auth: true,
    body: ACPModelDiscoveryRequest,
    responses: { ...ok("The models.", ACPModelDiscovery), ...invalid },
  },
});
