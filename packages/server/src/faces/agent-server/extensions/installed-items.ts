import { isCommit } from "../../../extensions/sources/extension-source.ts";
import type { ExtensionSources, OpenedSource } from "../../../extensions/sources/extension-sources.ts";
import { compareFolders } from "../../../extensions/sources/folder-content.ts";
import type { GivenSource } from "../../../extensions/sources/extension-source.ts";
import type { RefreshInstalledRequest, SourceChanges } from "@convoke/protocol";
import type { RouteRequest } from "../../../http/mount.ts";
import type { Clock } from "../../../lib/clock.ts";
import { Fault } from "../../../lib/fault.ts";
import { formatInstant } from "../../../lib/instant.ts";
import type { SettingsStore } from "../../../settings/settings-store.ts";
import type { StoredInstallation, StoredSettings } from "../../../settings/stored-settings.ts";

const maxInstalled = 100;

export type Kind = "installedSkills" | "installedPlugins" | "installedCanvasExtensions";

export type InstalledItemsDeps = {
  readonly settings: SettingsStore;
  readonly sources: ExtensionSources;
  readonly clock: Clock;
};

/** What a folder says of itself; throws a `Fault` for one of another kind. */
export type ReadHead = (
  opened: OpenedSource,
  loc: readonly (string | number)[],
) => Promise<{ readonly name: string; readonly version: string; readonly description: string }>;

type InstallRequest = GivenSource & {
  readonly force?: boolean;
  readonly requested_ref?: string | null | undefined;
};

/** What a user has installed of one kind. What came from git without the name of a commit was not shown before, so it is off at first. */
export class InstalledItems {
  readonly #deps: InstalledItemsDeps;
  readonly #kind: Kind;
  readonly #read: ReadHead;

  constructor(deps: InstalledItemsDeps, kind: Kind, read: ReadHead) {
    this.#deps = deps;
    this.#kind = kind;
    this.#read = read;
  }

  async install({ caller, body }: RouteRequest): Promise<Installed> {
    const request = body as InstallRequest;
    const { sources, settings, clock } = this.#deps;
    const { userId } = caller;
    const opened = await sources.open(userId, request, { loc: ["body"] });
    const { name, ...head } = await this.#read(opened, ["body", "source"]);
    const item = toItem(request, opened, {
      ...head,
      enabled: opened.copy === null || isCommit(request.ref ?? null),
      installed_at: formatInstant(clock.nowMs() * 1000),
    });
    const stored = this.#kind === "installedCanvasExtensions" ? { ...item, enabled: false } : item;
    const before = (await settings.load(userId)).settings[this.#kind][name];
    await settings.change(userId, (all) => install(all, this.#kind, name, stored, request.force === true));
    if (before !== undefined) await sources.release(userId, before);
    return { name, item: stored };
  }

  async list({ caller }: RouteRequest): Promise<Installed[]> {
    const { settings } = await this.#deps.settings.load(caller.userId);
    return Object.entries(settings[this.#kind]).map(([name, item]) => ({ name, item }));
  }

  async get({ caller }: RouteRequest, name: string): Promise<Installed> {
    const { settings } = await this.#deps.settings.load(caller.userId);
    return { name, item: requireInstalled(settings, this.#kind, name) };
  }

  async toggle({ caller }: RouteRequest, name: string, enabled: boolean): Promise<void> {
    await this.#deps.settings.change(caller.userId, (stored) => {
      const item = { ...requireInstalled(stored, this.#kind, name), enabled };
      return { ...stored, [this.#kind]: { ...stored[this.#kind], [name]: item } };
    });
  }

  async remove(request: RouteRequest, name: string): Promise<void> {
    const { settings, sources } = this.#deps;
    const { userId } = request.caller;
    const { item } = await this.get(request, name);
    await settings.change(userId, (stored) => {
      const { [name]: _, ...others } = stored[this.#kind];
      return { ...stored, [this.#kind]: others };
    });
    await sources.release(userId, item);
  }

  /** Reads it again: from git the commit that is named, or the one that its reference leads to by now. */
  async refresh(
    request: RouteRequest,
    name: string,
  ): Promise<Installed & { readonly changes: SourceChanges | null; readonly message: string }> {
    const { settings, sources } = this.#deps;
    const { userId } = request.caller;
    const { commit = null, dry_run: isTrial = false } = (request.body ?? {}) as RefreshInstalledRequest;
    const { item: before } = await this.get(request, name);
    const { source, repo_path, pin } = before;
    const wanted = { source, repo_path, ref: pin === undefined ? null : (commit ?? pin.ref) };
    const opened = await sources.open(userId, wanted, { loc: ["body"] });
    const { name: present, ...head } = await this.#read(opened, ["body", "source"]);
    if (present !== name)
      throw new Fault("conflict", "renamed", `It is called ${present} by now. Install it under that name.`);
    const changes = await this.#changes(userId, before, opened);
    const isSame = changes === null || changes.from === changes.to || isEmpty(changes);
    if (isTrial) return { name, item: before, changes, message: `Nothing was changed.` };
    const item = {
      ...toItem({ ...wanted, requested_ref: pin?.ref ?? null }, opened, { ...head, ...before }),
      version: head.version,
      description: head.description,
      enabled: before.enabled && (isSame || isCommit(commit)),
    };
    await settings.change(userId, (stored) => install(stored, this.#kind, name, item, true));
    await sources.release(userId, before);
    const isOff = before.enabled && !item.enabled;
    const message = isOff
      ? `${name} was read again. It has changed, so it is off until somebody switches it on.`
      : `${name} was read again.`;
    return { name, item, changes, message };
  }

  async #changes(
    userId: string,
    { pin }: StoredInstallation,
    { copy }: OpenedSource,
  ): Promise<SourceChanges | null> {
    if (pin === undefined || copy === null) return null;
    const before = await this.#deps.sources.contentOf(userId, pin.digest);
    return { from: pin.commit, to: copy.pin.commit, ...compareFolders(before, copy.content) };
  }
}

export type Installed = { readonly name: string; readonly item: StoredInstallation };

function requireInstalled(settings: StoredSettings, kind: Kind, name: string): StoredInstallation {
  if (Object.hasOwn(settings[kind], name)) return settings[kind][name]!;
  throw new Fault("missing", "not_installed", `Nothing called ${name} is installed.`);
}

/** An installation as clients read it; `path` is where it is on this machine. */
export function showInstalled({ name, item: { pin, ...item } }: Installed, path: string) {
  return {
    name,
    ...item,
    install_path: path,
    requested_ref: pin?.ref ?? null,
    resolved_ref: pin?.commit ?? null,
    digest: pin?.digest ?? null,
  };
}

function toItem(
  { source, repo_path, requested_ref: followed }: InstallRequest,
  { directory, copy }: OpenedSource,
  rest: Pick<StoredInstallation, "version" | "description" | "enabled" | "installed_at">,
): StoredInstallation {
  const { version, description, enabled, installed_at } = rest;
  const common = { version, description, enabled, source, repo_path: repo_path ?? null, installed_at };
  if (copy === null) return { ...common, install_path: directory };
  return { ...common, install_path: "", pin: { ...copy.pin, ref: copy.pin.ref ?? (followed || null) } };
}

/** The settings with one installation added, or replaced when requested. */
function install(
  settings: StoredSettings,
  kind: Kind,
  name: string,
  item: StoredInstallation,
  isForced: boolean,
): StoredSettings {
  const isKnown = Object.hasOwn(settings[kind], name);
  if (isKnown && !isForced) throw new Fault("conflict", "already_installed", `${name} is installed already.`);
  if (!isKnown && Object.keys(settings[kind]).length >= maxInstalled)
    throw new Fault("conflict", "too_many_installed", `At most ${maxInstalled} can be installed.`);
  return { ...settings, [kind]: { ...settings[kind], [name]: item } };
}

function isEmpty({ added, changed, removed }: SourceChanges): boolean {
  return added.length + changed.length + removed.length === 0;
}
