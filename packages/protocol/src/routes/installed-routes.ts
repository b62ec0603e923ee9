import { Type } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import {
  InstalledCanvasExtensionsList,
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

const name = Type.String({ minLength: 1, maxLength: 255, pattern: "^[a-z0-9]+(-[a-z0-9]+)*$" });
const skillParams = Type.Object({ skill_name: name });
const pluginParams = Type.Object({ plugin_name: name });
const missing = { 404: { description: "Nothing of this name is installed.", schema: ErrorReply } } as const;
const taken = {
  409: { description: "Something of this name is installed already.", schema: ErrorReply },
} as const;

/** Skills, plugins and sub-agents in the form of newer clients. */
export const installedRoutes = {
  ...routesOf("Canvas extensions", {
    listCanvasExtensions: {
      method: "GET",
      path: "/api/canvas-extensions/installed",
      summary: "Pages that somebody added to Agent Canvas; none, because they cannot be installed here",
      auth: true,
      responses: ok("The extensions.", InstalledCanvasExtensionsList),
    },
  }),
  ...routesOf("Skills", {
    installSkill: {
      method: "POST",
      path: "/api/skills/install",
      summary: "Use the skill of a directory in every conversation of one's own",
      auth: true,
      body: InstallSkillRequest,
      responses: { ...ok("Installed.", InstalledSkillResponse), ...taken, ...invalid },
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
      responses: { ...ok("The skill.", InstalledSkillResponse), ...missing, ...invalid },
    },
    toggleInstalledSkill: {
      method: "PATCH",
      path: "/api/skills/installed/{skill_name}",
      summary: "Switch an installed skill on or off",
      auth: true,
      params: skillParams,
      body: UpdateInstalledRequest,
      responses: { ...ok("Changed.", UpdateInstalledResponse), ...missing, ...invalid },
    },
    uninstallSkill: {
      method: "DELETE",
      path: "/api/skills/installed/{skill_name}",
      summary: "Use an installed skill no more; its directory stays",
      auth: true,
      params: skillParams,
      responses: { ...ok("It is not installed any more.", UninstalledResponse), ...missing, ...invalid },
    },
    refreshInstalledSkill: {
      method: "POST",
      path: "/api/skills/installed/{skill_name}/refresh",
      summary: "Read the directory of an installed skill again",
      auth: true,
      params: skillParams,
      responses: { ...ok("Read.", RefreshedSkillResponse), ...missing, ...invalid },
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
      summary: "Use the plugin of a directory in every conversation of one's own",
      auth: true,
      body: InstallPluginRequest,
      responses: { ...ok("Installed.", InstalledPluginResponse), ...taken, ...invalid },
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
      responses: { ...ok("The plugin.", InstalledPluginResponse), ...missing, ...invalid },
    },
    toggleInstalledPlugin: {
      method: "PATCH",
      path: "/api/plugins/installed/{plugin_name}",
      summary: "Switch an installed plugin on or off",
      auth: true,
      params: pluginParams,
      body: UpdateInstalledRequest,
      responses: { ...ok("Changed.", UpdateInstalledResponse), ...missing, ...invalid },
    },
    uninstallPlugin: {
      method: "DELETE",
      path: "/api/plugins/installed/{plugin_name}",
      summary: "Use an installed plugin no more; its directory stays",
      auth: true,
      params: pluginParams,
      responses: { ...ok("It is not installed any more.", UninstalledResponse), ...missing, ...invalid },
    },
    refreshInstalledPlugin: {
      method: "POST",
      path: "/api/plugins/installed/{plugin_name}/refresh",
      summary: "Read the directory of an installed plugin again",
      auth: true,
      params: pluginParams,
      responses: { ...ok("Read.", RefreshedPluginResponse), ...missing, ...invalid },
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
