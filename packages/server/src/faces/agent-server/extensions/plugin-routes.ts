import type {
  InstallPluginRequest,
  InstallSkillRequest,
  PluginInfo,
  PluginsRequest,
  SubAgentsRequest,
  UpdateInstalledRequest,
} from "@convoke/protocol";
import type { RouteHandler, RouteRequest } from "../../../http/mount.ts";
import { invalidField } from "../../../lib/fault.ts";
import { formatInstant } from "../../../lib/instant.ts";
import { listPlugins, readPlugin } from "../../../extensions/plugins/read-plugin.ts";
import { loadSkillFolder } from "../../../extensions/skills/load-skills.ts";
import { textOf } from "../../../extensions/skills/parse-skill.ts";
import type { StoredInstallation } from "../../../settings/stored-settings.ts";
import {
  directoryOf,
  install,
  readSkillDirectory,
  requireInstalled,
  showInstalled,
  uninstall,
  type Kind,
} from "./installed-skills.ts";
import { listSubAgents, readDirectory, type SkillRouteDeps } from "./skill-routes.ts";
import type { Clock } from "../../../lib/clock.ts";

export type InstalledRouteDeps = SkillRouteDeps & { readonly clock: Clock };

/** Skills and plugins that users install, and helpers. */
export function installedHandlers(deps: InstalledRouteDeps) {
  const { settings, files, home, publicFolder, workspaceRoot, clock } = deps;

  const found = (version: string, description: string, request: InstallSkillRequest): StoredInstallation => ({
    version,
    description,
    enabled: true,
    source: request.source,
    repo_path: request.repo_path ?? null,
    installed_at: formatInstant(clock.nowMs() * 1000),
    install_path: directoryOf(request),
  });

  async function readSkill(request: InstallSkillRequest) {
    const { skills, problems } = await readSkillDirectory(files, directoryOf(request));
    const [skill] = skills;
    if (skill === undefined) {
      throw invalidField(
        ["body", "source"],
        `There is no skill that can be read: ${problems[0]?.reason ?? ""}`,
      );
    }
    const version = textOf(skill.metadata?.["version"]) ?? "";
    return { name: skill.name, item: found(version, skill.description ?? "", request) };
  }

  async function readInstallablePlugin(request: InstallPluginRequest) {
    const plugin = await readPlugin(files, directoryOf(request));
    if (plugin === null || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(plugin.name)) {
      throw invalidField(["body", "source"], "There is no plugin with a readable manifest and a plain name.");
    }
    return { name: plugin.name, item: found(plugin.version, plugin.description, request) };
  }

  async function showPlugin(name: string, item: StoredInstallation) {
    const plugin = await readPlugin(files, item.install_path);
    return { ...showInstalled(name, item), skills: plugin?.skills ?? null, files: plugin?.files ?? null };
  }

  const storedOf = async ({ caller }: RouteRequest) => (await settings.load(caller.userId)).settings;

  async function toggle(request: RouteRequest, kind: Kind, name: string) {
    const { enabled } = request.body as UpdateInstalledRequest;
    await settings.change(request.caller.userId, (stored) => {
      const item = { ...requireInstalled(stored, kind, name), enabled };
      return { ...stored, [kind]: { ...stored[kind], [name]: item } };
    });
    return { json: { name, enabled } };
  }

  async function remove({ caller }: RouteRequest, kind: Kind, name: string) {
    await settings.change(caller.userId, (stored) => uninstall(stored, kind, name));
    return { json: { message: `${name} is not installed any more.` } };
  }

  return {
    listCanvasExtensions: () => ({ json: { canvas_extensions: [] } }),

    installSkill: async ({ caller, body }) => {
      const request = body as InstallSkillRequest;
      const { name, item } = await readSkill(request);
      await settings.change(caller.userId, (stored) =>
        install(stored, "installedSkills", name, item, request.force === true),
      );
      return { json: showInstalled(name, item) };
    },

    listInstalledSkills: async (request) => {
      const entries = Object.entries((await storedOf(request)).installedSkills);
      return { json: { skills: entries.map(([name, item]) => showInstalled(name, item)) } };
    },

    getInstalledSkill: async (request) => {
      const name = request.params["skill_name"]!;
      const item = requireInstalled(await storedOf(request), "installedSkills", name);
      return { json: showInstalled(name, item) };
    },

    toggleInstalledSkill: (request) => toggle(request, "installedSkills", request.params["skill_name"]!),

    uninstallSkill: (request) => remove(request, "installedSkills", request.params["skill_name"]!),

    refreshInstalledSkill: async (request) => {
      const name = request.params["skill_name"]!;
      const before = requireInstalled(await storedOf(request), "installedSkills", name);
      const { item } = await readSkill({ source: before.source, repo_path: before.repo_path });
      const refreshed = { ...item, enabled: before.enabled, installed_at: before.installed_at };
      await settings.change(request.caller.userId, (stored) =>
        install(stored, "installedSkills", name, refreshed, true),
      );
      return { json: { message: `${name} was read again.`, skill: showInstalled(name, refreshed) } };
    },

    listMarketplaceSkills: async (request) => {
      const { installedSkills: installed } = await storedOf(request);
      const { skills } = publicFolder === null ? { skills: [] } : await loadSkillFolder(files, publicFolder);
      const shown = skills.map(({ name, description, source, resources }) => ({
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
      const stored = await storedOf(request);
      const enabled = Object.values(stored.installedPlugins).filter((item) => isUser && item.enabled);
      const [project, own, installed] = await Promise.all([
        body.load_project !== false && directory !== null ? listPlugins(files, directory) : [],
        isUser && home !== null ? listPlugins(files, home) : [],
        Promise.all(enabled.map((item) => readPlugin(files, item.install_path))),
      ]);
      const byName = new Map<string, PluginInfo>();
      for (const plugin of [...project, ...own, ...installed]) {
        if (plugin !== null && !byName.has(plugin.name)) byName.set(plugin.name, plugin);
      }
      return { json: { plugins: [...byName.values()] } };
    },

    installPlugin: async ({ caller, body }) => {
      const request = body as InstallPluginRequest;
      const { name, item } = await readInstallablePlugin(request);
      await settings.change(caller.userId, (stored) =>
        install(stored, "installedPlugins", name, item, request.force === true),
      );
      return { json: await showPlugin(name, item) };
    },

    listInstalledPlugins: async (request) => {
      const entries = Object.entries((await storedOf(request)).installedPlugins);
      return { json: { plugins: await Promise.all(entries.map(([name, item]) => showPlugin(name, item))) } };
    },

    getInstalledPlugin: async (request) => {
      const name = request.params["plugin_name"]!;
      return {
        json: await showPlugin(name, requireInstalled(await storedOf(request), "installedPlugins", name)),
      };
    },

    toggleInstalledPlugin: (request) => toggle(request, "installedPlugins", request.params["plugin_name"]!),

    uninstallPlugin: (request) => remove(request, "installedPlugins", request.params["plugin_name"]!),

    refreshInstalledPlugin: async (request) => {
      const name = request.params["plugin_name"]!;
      const before = requireInstalled(await storedOf(request), "installedPlugins", name);
      const { item } = await readInstallablePlugin({ source: before.source, repo_path: before.repo_path });
      const refreshed = { ...item, enabled: before.enabled, installed_at: before.installed_at };
      await settings.change(request.caller.userId, (stored) =>
        install(stored, "installedPlugins", name, refreshed, true),
      );
      return { json: { message: `${name} was read again.`, plugin: await showPlugin(name, refreshed) } };
    },

    listMarketplacePlugins: () => ({ json: { plugins: [] } }),

    listSubAgents: async ({ body }) => ({
      json: { agents: await listSubAgents(body as SubAgentsRequest, deps) },
    }),
  } satisfies Record<string, RouteHandler>;
}
