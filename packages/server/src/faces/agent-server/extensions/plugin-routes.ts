import type { PluginInfo, installedRoutes } from "@convoke/protocol";
import type { Handlers } from "../../../http/mount.ts";
import { listPlugins, readPlugin } from "../../../extensions/plugins/read-plugin.ts";
import { loadSkillFolder } from "../../../extensions/skills/load-skills.ts";
import type { Caller } from "../../../security/caller.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { InstalledItems, showInstalled, type Installed } from "./installed-items.ts";
import { pluginHead, skillHead } from "./read-heads.ts";
import { fetchHandlers } from "./fetch-routes.ts";
import { listSubAgents, readDirectory, skillPlaces } from "./skill-routes.ts";

/** Skills and plugins that users install, and helpers. */
export function installedHandlers(deps: FaceDeps) {
  const { settings, sources, workspaceRoot } = deps;
  const { files, home, publicFolder } = skillPlaces(deps);
  const skills = new InstalledItems({
    ...deps,
    kind: "installedSkills",
    read: skillHead,
    show: async ({ userId }, installed) => {
      const opened = await sources.openInstalled(userId, installed.item);
      return showInstalled(installed, opened?.directory ?? "");
    },
  });
  const plugins = new InstalledItems({
    ...deps,
    kind: "installedPlugins",
    read: pluginHead,
    show: async (caller, installed) => {
      const { opened, plugin } = await openPlugin(caller, installed);
      const shown = showInstalled(installed, opened?.directory ?? "");
      return { ...shown, skills: plugin?.skills ?? null, files: plugin?.files ?? null };
    },
  });

  async function openPlugin({ userId }: Caller, { item }: Installed) {
    const opened = await sources.openInstalled(userId, item);
    return { opened, plugin: opened === null ? null : await readPlugin(opened.files, opened.directory) };
  }

  return {
    ...fetchHandlers(deps),

    installSkill: (request) => skills.install(request),

    listInstalledSkills: (request) => skills.list(request, "skills"),

    getInstalledSkill: (request) => skills.get(request, request.params.skill_name),

    toggleInstalledSkill: (request) => skills.toggle(request, request.params.skill_name),

    uninstallSkill: (request) => skills.remove(request, request.params.skill_name),

    refreshInstalledSkill: (request) => skills.refresh(request, request.params.skill_name, "skill"),

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
      const body = request.body;
      const directory = readDirectory(body.project_dir ?? null, workspaceRoot);
      const isUser = body.load_user !== false;
      const enabled = (await plugins.all(request.caller)).filter(({ item }) => isUser && item.enabled);
      const [project, own, installed] = await Promise.all([
        body.load_project !== false && directory !== null ? listPlugins(files, directory) : [],
        isUser && home !== null ? listPlugins(files, home) : [],
        Promise.all(enabled.map(async (item) => (await openPlugin(request.caller, item)).plugin)),
      ]);
      const byName = new Map<string, PluginInfo>();
      for (const plugin of [...project, ...own, ...installed]) {
        if (plugin !== null && !byName.has(plugin.name)) byName.set(plugin.name, plugin);
      }
      return { json: { plugins: [...byName.values()] } };
    },

    installPlugin: (request) => plugins.install(request),

    listInstalledPlugins: (request) => plugins.list(request, "plugins"),

    getInstalledPlugin: (request) => plugins.get(request, request.params.plugin_name),

    toggleInstalledPlugin: (request) => plugins.toggle(request, request.params.plugin_name),

    uninstallPlugin: (request) => plugins.remove(request, request.params.plugin_name),

    refreshInstalledPlugin: (request) => plugins.refresh(request, request.params.plugin_name, "plugin"),

    listMarketplacePlugins: () => ({ json: { plugins: [] } }),

    listSubAgents: async ({ body }) => ({
      json: { agents: await listSubAgents(body, deps) },
    }),
  } satisfies Handlers<typeof installedRoutes>;
}
