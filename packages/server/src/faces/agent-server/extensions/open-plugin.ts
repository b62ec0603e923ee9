import type { PluginSource } from "@convoke/protocol";
import type { JoinedPlugin } from "../../../engine/conversation-config.ts";
import { loadPlugin, type PluginParts } from "../../../extensions/plugins/load-plugin.ts";
import { isCommit, readSource } from "../../../extensions/sources/extension-source.ts";
import { copyMissing, type ExtensionSources } from "../../../extensions/sources/extension-sources.ts";
import type { WorkspaceFiles } from "../../../extensions/skills/workspace-files.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import type { SettingsStore } from "../../../settings/settings-store.ts";
import type { StoredInstallation } from "../../../settings/stored-settings.ts";

export type PluginAccess = { readonly settings: SettingsStore; readonly sources: ExtensionSources };

export type OpenedPlugin = { readonly parts: PluginParts; readonly joined: JoinedPlugin };

type Found = {
  readonly files: WorkspaceFiles;
  readonly directory: string;
  readonly pin: { readonly commit: string; readonly digest: string } | null;
};

/**
 * A plugin that a conversation gets: a directory, an installed one by its name, or a git repository. Of a repository a commit in full is
 * needed, unless the plugin is installed and switched on: what a branch leads to was not shown to anybody.
 */
export async function openPlugin(
  given: PluginSource,
  access: PluginAccess,
  userId: string,
  loc: readonly (string | number)[],
  whenUnknown: "caller" | "missing" = "caller",
): Promise<OpenedPlugin> {
  const { files, directory, pin } = await find(given, access, userId, { loc, whenUnknown });
  const loaded = await loadPlugin(files, directory);
  if (!loaded.ok) throw invalidField([...loc, "source"], `The directory ${loaded.reason}`);
  const { source, repo_path } = given;
  const { commit = null, digest = null } = pin ?? {};
  const joined = { name: loaded.parts.name, source, repo_path: repo_path ?? null, commit, digest };
  return { parts: loaded.parts, joined: { ...joined, root: directory } };
}

async function find(
  given: PluginSource,
  { settings, sources }: PluginAccess,
  userId: string,
  {
    loc,
    whenUnknown,
  }: { readonly loc: readonly (string | number)[]; readonly whenUnknown: "caller" | "missing" },
): Promise<Found> {
  const installed = (await settings.load(userId)).settings.installedPlugins;
  const ofInstalled = async (item: StoredInstallation): Promise<Found> => {
    const opened = await sources.openInstalled(userId, item);
    if (opened === null) throw copyMissing();
    return { ...opened, pin: item.pin ?? null };
  };
  if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(given.source)) {
    const item = Object.hasOwn(installed, given.source) ? installed[given.source]! : null;
    if (item === null) throw unknownPlugin(given.source, whenUnknown, loc);
    if (!item.enabled)
      throw invalidField(
        [...loc, "source"],
        `The plugin ${given.source} is switched off. Switch it on first.`,
      );
    return await ofInstalled(item);
  }
  const source = readSource(given, loc);
  if (source.kind === "git" && !isCommit(source.ref)) {
    const item = Object.values(installed).find(({ pin, enabled, ...other }) => {
      if (pin === undefined || !enabled) return false;
      const known = readSource(other, loc);
      if (known.kind !== "git" || known.address !== source.address || known.inside !== source.inside)
        return false;
      return source.ref === null || source.ref === pin.ref;
    });
    if (item !== undefined) return await ofInstalled(item);
    throw invalidField(
      [...loc, "ref"],
      "Name a commit in full, or install the plugin and switch it on: nobody was shown what this leads to. POST /api/plugins/fetch shows it.",
    );
  }
  const { copy, ...opened } = await sources.open(userId, given, { loc });
  return { ...opened, pin: copy?.pin ?? null };
}

function unknownPlugin(
  name: string,
  whenUnknown: "caller" | "missing",
  loc: readonly (string | number)[],
): Fault {
  const msg = `No plugin called ${name} is installed. Install it, or send the absolute path of a directory or the address of a git repository.`;
  return whenUnknown === "missing"
    ? new Fault("missing", "plugin_not_found", msg)
    : invalidField([...loc, "source"], msg);
}
