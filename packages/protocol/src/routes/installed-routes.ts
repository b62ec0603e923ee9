import { Type } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { FetchPluginRequest, FetchPluginResponse, FetchSkillResponse } from "../workspace/fetched.ts";
import {
  InstalledPluginResponse,
  InstalledPluginsListResponse,
  InstalledSkillResponse,
  InstalledSkillsListResponse,
  InstallPluginRequest,
  InstallSkillRequest,
  MarketplacePlugins,
  MarketplaceSkills,
  PluginsRequest,
  PluginsResponse,
  RefreshedPluginResponse,
  RefreshInstalledRequest,
  RefreshedSkillResponse,
  SubAgentsRequest,
  SubAgentsResponse,
  UninstalledResponse,
  UpdateInstalledRequest,
  UpdateInstalledResponse,
} from "../workspace/installed.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

export const installedName = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: "^[a-z0-9]+(-[a-z0-9]+)*$",
});
const skillParams = Type.Object({ skill_name: installedName });
const pluginParams = Type.Object({ plugin_name: installedName });
export const notInstalled = {
  404: { description: "Nothing of this name is installed.", schema: ErrorReply },
} as const;
export const installedAlready = {
  409: { description: "Something of this name is installed already.", schema: ErrorReply },
} as const;
/** What can go wrong with a git repository. */
export const fetchFailures = {
  403: {
    description: "A network policy does not allow the host, or the folder is not for the caller.",
    schema: ErrorReply,
  },
  502: { description: "The host did not answer as git expects.", schema: ErrorReply },
  503: { description: "Too much is being fetched.", schema: ErrorReply },
  504: { description: "The host took too long.", schema: ErrorReply },
} as const;

/** Skills, plugins and sub-agents in the form of newer clients. */
export const installedRoutes = {
  ...routesOf("Skills", {
    fetchSkill: {
      method: "POST",
      path: "/api/skills/fetch",
      summary: "Fetch a skill and show it; nothing is installed",
      auth: true,
      body: FetchPluginRequest,
      responses: { ...ok("What is in it.", FetchSkillResponse), ...fetchFailures, ...invalid },
    },
    installSkill: {
      method: "POST",
      path: "/api/skills/install",
      summary: "Use the skill of a directory or a git repository in every conversation of one's own",
      auth: true,
      body: InstallSkillRequest,
      responses: {
        ...ok("Installed.", InstalledSkillResponse),
        ...installedAlready,
        ...fetchFailures,
        ...invalid,
      },
    },
    listInstalledSkills: {
      method: "GET",
      path: "/api/skills/installed",
      summary: "The installed skills",
      auth: true,
      responses: ok("The skills.", InstalledSkillsListResponse),
    },
    getInstalledSkill: {
      method: "GET",
      path: "/api/skills/installed/{skill_name}",
      summary: "One installed skill",
      auth: true,
      params: skillParams,
      responses: { ...ok("The skill.", InstalledSkillResponse), ...notInstalled, ...invalid },
    },
    toggleInstalledSkill: {
      method: "PATCH",
      path: "/api/skills/installed/{skill_name}",
      summary: "Switch an installed skill on or off",
      auth: true,
      params: skillParams,
      body: UpdateInstalledRequest,
      responses: { ...ok("Changed.", UpdateInstalledResponse), ...notInstalled, ...invalid },
    },
    uninstallSkill: {
      method: "DELETE",
      path: "/api/skills/installed/{skill_name}",
      summary: "Remove an installed skill and its copy; a directory stays",
      auth: true,
      params: skillParams,
      responses: { ...ok("It is not installed any more.", UninstalledResponse), ...notInstalled, ...invalid },
    },
    refreshInstalledSkill: {
      method: "POST",
      path: "/api/skills/installed/{skill_name}/refresh",
      summary: "Read an installed skill again, from git at its newest commit or the one that is named",
      auth: true,
      params: skillParams,
      body: RefreshInstalledRequest,
      isBodyOptional: true,
      responses: { ...ok("Read.", RefreshedSkillResponse), ...notInstalled, ...fetchFailures, ...invalid },
    },
    listMarketplaceSkills: {
      method: "GET",
      path: "/api/skills/marketplace",
      summary: "The skills of the public directory of this server",
      auth: true,
      responses: ok("The skills.", MarketplaceSkills),
    },
  }),
  ...routesOf("Plugins", {
    fetchPlugin: {
      method: "POST",
      path: "/api/plugins/fetch",
      summary: "Fetch a plugin and show what it would bring; nothing is installed",
      auth: true,
      body: FetchPluginRequest,
      responses: { ...ok("What is in it.", FetchPluginResponse), ...fetchFailures, ...invalid },
    },
    listPlugins: {
      method: "POST",
      path: "/api/plugins",
      summary: "The plugins that an agent in this directory would have",
      auth: true,
      body: PluginsRequest,
      responses: { ...ok("The plugins.", PluginsResponse), ...invalid },
    },
    installPlugin: {
      method: "POST",
      path: "/api/plugins/install",
      summary: "Install the plugin of a directory or a git repository",
      auth: true,
      body: InstallPluginRequest,
      responses: {
        ...ok("Installed.", InstalledPluginResponse),
        ...installedAlready,
        ...fetchFailures,
        ...invalid,
      },
    },
    listInstalledPlugins: {
      method: "GET",
      path: "/api/plugins/installed",
      summary: "The installed plugins",
      auth: true,
      responses: ok("The plugins.", InstalledPluginsListResponse),
    },
    getInstalledPlugin: {
      method: "GET",
      path: "/api/plugins/installed/{plugin_name}",
      summary: "One installed plugin",
      auth: true,
      params: pluginParams,
      responses: { ...ok("The plugin.", InstalledPluginResponse), ...notInstalled, ...invalid },
    },
    toggleInstalledPlugin: {
      method: "PATCH",
      path: "/api/plugins/installed/{plugin_name}",
      summary: "Switch an installed plugin on or off",
      auth: true,
      params: pluginParams,
      body: UpdateInstalledRequest,
      responses: { ...ok("Changed.", UpdateInstalledResponse), ...notInstalled, ...invalid },
    },
    uninstallPlugin: {
      method: "DELETE",
      path: "/api/plugins/installed/{plugin_name}",
      summary: "Remove an installed plugin and its copy; a directory stays",
      auth: true,
      params: pluginParams,
      responses: { ...ok("It is not installed any more.", UninstalledResponse), ...notInstalled, ...invalid },
    },
    refreshInstalledPlugin: {
      method: "POST",
      path: "/api/plugins/installed/{plugin_name}/refresh",
      summary: "Read an installed plugin again, from git at its newest commit or the one that is named",
      auth: true,
      params: pluginParams,
      body: RefreshInstalledRequest,
      isBodyOptional: true,
      responses: { ...ok("Read.", RefreshedPluginResponse), ...notInstalled, ...fetchFailures, ...invalid },
    },
    listMarketplacePlugins: {
      method: "GET",
      path: "/api/plugins/marketplace",
      summary: "The plugins of the public directory of this server",
      auth: true,
      responses: ok("The plugins.", MarketplacePlugins),
    },
  }),
  ...routesOf("Sub-agents", {
    listSubAgents: {
      method: "POST",
      path: "/api/sub-agents",
      summary: "The helpers that an agent in this directory could hand tasks to",
      auth: true,
      body: SubAgentsRequest,
      responses: { ...ok("The helpers.", SubAgentsResponse), ...invalid },
    },
  }),
};
