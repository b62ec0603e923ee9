import type { PluginInfo, PluginsRequest, SubAgentsRequest, UpdateInstalledRequest } from "@convoke/protocol";
import type { RouteHandler, RouteRequest } from "../../../http/mount.ts";
import { listPlugins, readPlugin } from "../../../extensions/plugins/read-plugin.ts";
import { loadSkillFolder } from "../../../extensions/skills/load-skills.ts";
import { InstalledItems, showInstalled, type Installed } from "./installed-items.ts";
import { pluginHead, skillHead } from "./read-heads.ts";
import { fetchHandlers } from "./fetch-routes.ts";
import { listSubAgents, readDirectory, type SkillRouteDeps } from "./skill-routes.ts";
import type { Clock } from "../../../lib/clock.ts";

export type InstalledRouteDeps = SkillRouteDeps & { readonly clock: Clock };

/** Skills and plugins that users install, and helpers. */
export function installedHandlers(deps: InstalledRouteDeps) {
  const { settings, sources, files, home, publicFolder, workspaceRoot } = deps;
  const skills = new InstalledItems(deps, "installedSkills", skillHead);
  const plugins = new InstalledItems(deps, "installedPlugins", pluginHead);

  async function pathOf({ caller }: RouteRequest, { item }: Installed): Promise<string> {
    return (await sources.openInstalled(caller.userId, item))?.directory ?? "";
  }

  async function showSkill(request: RouteRequest, installed: Installed) {
    return showInstalled(installed, await pathOf(request, installed));
  }

  async function showPlugin(request: RouteRequest, installed: Installed) {
    const opened = await sources.openInstalled(request.caller.userId, installed.item);
    const plugin = opened === null ? null : await readPlugin(opened.files, opened.directory);
    const shown = showInstalled(installed, opened?.directory ?? "");
    return { ...shown, skills: plugin?.skills ?? null, files: plugin?.files ?? null };
  }

  async function toggle(items: InstalledItems, request: RouteRequest, name: string) {
    const { enabled } = request.body as UpdateInstalledRequest;
    await items.toggle(request, name, enabled);
    return { json: { name, enabled } };
  }

  async function remove(items: InstalledItems, request: RouteRequest, name: string) {
    await items.remove(request, name);
    return { json: { message: `${name} is not installed any more.` } };
  }

  return {
    ...fetchHandlers(deps),

    installSkill: async (request) => ({ json: await showSkill(request, await skills.install(request)) }),

    listInstalledSkills: async (request) => {
      const all = await skills.list(request);
      return { json: { skills: await Promise.all(all.map((item) => showSkill(request, item))) } };
    },

    getInstalledSkill: async (request) => ({
      json: await showSkill(request, await skills.get(request, request.params["skill_name"]!)),
    }),

    toggleInstalledSkill: (request) => toggle(skills, request, request.params["skill_name"]!),

    uninstallSkill: (request) => remove(skills, request, request.params["skill_name"]!),

    refreshInstalledSkill: async (request) => {
      const { message, changes, ...item } = await skills.refresh(request, request.params["skill_name"]!);
      return { json: { message, skill: await showSkill(request, item), changes } };
    },

    listMarketplaceSkills: async ({ caller }) => {
      const { installedSkills: installed } = (await settings.load(caller.userId)).settings;
      const found = publicFolder === null ? { skills: [] } : await loadSkillFolder(files, publicFolder);
      const shown = found.skills.map(({ name, description, source, resources }) => ({
        name,
        description: description ?? null,
        source: resources?.skill_root ?? source ?? "",
        installed: Object.hasOwn(installed, name),
      }));
      return { json: { skills: shown } };
    },

    listPlugins: async (request) => {
      const body = request.body as PluginsRequest;
      const directory = readDirectory(body.project_dir ?? null, workspaceRoot);
      const isUser = body.load_user !== false;
      const enabled = (await plugins.list(request)).filter(({ item }) => isUser && item.enabled);
      const [project, own, installed] = await Promise.all([
        body.load_project !== false && directory !== null ? listPlugins(files, directory) : [],
        isUser && home !== null ? listPlugins(files, home) : [],
        Promise.all(
          enabled.map(async ({ item }) => {
            const opened = await sources.openInstalled(request.caller.userId, item);
            return opened === null ? null : await readPlugin(opened.files, opened.directory);
          }),
        ),
      ]);
      const byName = new Map<string, PluginInfo>();
      for (const plugin of [...project, ...own, ...installed]) {
        if (plugin !== null && !byName.has(plugin.name)) byName.set(plugin.name, plugin);
      }
      return { json: { plugins: [...byName.values()] } };
    },

    installPlugin: async (request) => ({ json: await showPlugin(request, await plugins.install(request)) }),

    listInstalledPlugins: async (request) => {
      const all = await plugins.list(request);
      return { json: { plugins: await Promise.all(all.map((item) => showPlugin(request, item))) } };
    },

    getInstalledPlugin: async (request) => ({
      json: await showPlugin(request, await plugins.get(request, request.params["plugin_name"]!)),
    }),

    toggleInstalledPlugin: (request) => toggle(plugins, request, request.params["plugin_name"]!),

    uninstallPlugin: (request) => remove(plugins, request, request.params["plugin_name"]!),

    refreshInstalledPlugin: async (request) => {
      const { message, changes, ...item } = await plugins.refresh(request, request.params["plugin_name"]!);
      return { json: { message, plugin: await showPlugin(request, item), changes } };
    },

    listMarketplacePlugins: () => ({ json: { plugins: [] } }),

    listSubAgents: async ({ body }) => ({
      json: { agents: await listSubAgents(body as SubAgentsRequest, deps) },
    }),
  } satisfies Record<string, RouteHandler>;
}
