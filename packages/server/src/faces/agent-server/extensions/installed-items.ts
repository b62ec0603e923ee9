import type { RefreshInstalledRequest, SourceChanges, UpdateInstalledRequest } from "@convoke/protocol";
import { isCommit, type GivenSource } from "../../../extensions/sources/extension-source.ts";
import type { OpenedSource } from "../../../extensions/sources/extension-sources.ts";
import { compareFolders } from "../../../extensions/sources/folder-content.ts";
import type { RouteReply } from "../../../http/mount.ts";
import { Fault } from "../../../lib/fault.ts";
import { formatInstant } from "../../../lib/instant.ts";
import type { StoredInstallation, StoredSettings } from "../../../settings/stored-settings.ts";
import type { FaceDeps } from "../../face-deps.ts";
import type { Caller } from "../../../security/caller.ts";

const maxInstalled = 100;

export type Kind = "installedSkills" | "installedPlugins" | "installedCanvasExtensions";

/** What a folder says of itself; throws a `Fault` for one of another kind. */
export type ReadHead = (
  opened: OpenedSource,
  loc: readonly (string | number)[],
) => Promise<{ readonly name: string; readonly version: string; readonly description: string }>;

type InstallRequest = GivenSource & {
  readonly force?: boolean;
  readonly requested_ref?: string | null | undefined;
};

type Asked<Body = unknown> = { readonly caller: Caller; readonly body: Body };

/** An installation as clients of its kind read it. */
export type Show = (caller: Caller, installed: Installed) => Promise<object>;

export type InstalledItemsDeps = Pick<FaceDeps, "settings" | "sources" | "clock"> & {
  readonly kind: Kind;
  readonly read: ReadHead;
  readonly show: Show;
};

/**
 * What a user has installed of one kind, as routes answer with it. What came from git without the name of a commit was not shown before, so
 * it is off at first.
 */
export class InstalledItems {
  readonly #deps: InstalledItemsDeps;

  constructor(deps: InstalledItemsDeps) {
    this.#deps = deps;
  }

  async install({ caller, body: request }: Asked<InstallRequest>): Promise<RouteReply> {
    const { sources, settings, clock, kind, read, show } = this.#deps;
    const { userId } = caller;
    const opened = await sources.open(userId, request, { loc: ["body"] });
    const { name, ...head } = await read(opened, ["body", "source"]);
    const item = toItem(request, opened, {
      ...head,
      enabled: opened.copy === null || isCommit(request.ref ?? null),
      installed_at: formatInstant(clock.nowMs() * 1000),
    });
    const stored = kind === "installedCanvasExtensions" ? { ...item, enabled: false } : item;
    const before = (await settings.load(userId)).settings[kind][name];
    await settings.change(userId, (all) => install(all, kind, name, stored, request.force === true));
    if (before !== undefined) await sources.release(userId, before);
    return { json: await show(caller, { name, item: stored }) };
  }

  /** All of them, in the field `name` of the reply. */
  async list({ caller }: Asked, name: string): Promise<RouteReply> {
    const { show } = this.#deps;
    const all = await this.all(caller);
    return { json: { [name]: await Promise.all(all.map((installed) => show(caller, installed))) } };
  }

  async get({ caller }: Asked, name: string): Promise<RouteReply> {
    return { json: await this.#deps.show(caller, await this.find(caller, name)) };
  }

  async all({ userId }: Caller): Promise<Installed[]> {
    const { settings } = await this.#deps.settings.load(userId);
    return Object.entries(settings[this.#deps.kind]).map(([name, item]) => ({ name, item }));
  }

  async find({ userId }: Caller, name: string): Promise<Installed> {
    const { settings } = await this.#deps.settings.load(userId);
    return { name, item: requireInstalled(settings, this.#deps.kind, name) };
  }

  async toggle(
    { caller, body: { enabled } }: Asked<UpdateInstalledRequest>,
    name: string,
  ): Promise<RouteReply> {
    const { settings, kind } = this.#deps;
    await settings.change(caller.userId, (stored) => {
      const item = { ...requireInstalled(stored, kind, name), enabled };
      return { ...stored, [kind]: { ...stored[kind], [name]: item } };
    });
    return { json: { name, enabled } };
  }

  async remove({ caller }: Asked, name: string): Promise<RouteReply> {
    const { settings, sources, kind } = this.#deps;
    const { userId } = caller;
    const { item } = await this.find(caller, name);
    await settings.change(userId, (stored) => {
      const { [name]: _, ...others } = stored[kind];
      return { ...stored, [kind]: others };
    });
    await sources.release(userId, item);
    return { json: { message: `${name} is not installed any more.` } };
  }

  /**
   * Reads it again: from git the commit that is named, or the one that its reference leads to by now. The reply has it in the field
   * `as`.
   */
  async refresh(
    { caller, body }: Asked<RefreshInstalledRequest | undefined>,
    name: string,
    as: string,
  ): Promise<RouteReply> {
    const { settings, sources, kind, read, show } = this.#deps;
    const { userId } = caller;
    const { commit = null, dry_run: isTrial = false } = body ?? {};
    const { item: before } = await this.find(caller, name);
    const { source, repo_path, pin } = before;
    const wanted = { source, repo_path, ref: pin === undefined ? null : (commit ?? pin.ref) };
    const opened = await sources.open(userId, wanted, { loc: ["body"] });
    const { name: present, ...head } = await read(opened, ["body", "source"]);
    if (present !== name)
      throw new Fault("conflict", "renamed", `It is called ${present} by now. Install it under that name.`);
    const changes = await this.#changes(userId, before, opened);
    const isSame = changes === null || changes.from === changes.to || isEmpty(changes);
    const reply = async (item: StoredInstallation, message: string): Promise<RouteReply> => ({
      json: { message, [as]: await show(caller, { name, item }), changes },
    });
    if (isTrial) return await reply(before, "Nothing was changed.");
    const item = {
      ...toItem({ ...wanted, requested_ref: pin?.ref ?? null }, opened, { ...head, ...before }),
      version: head.version,
      description: head.description,
      enabled: before.enabled && (isSame || isCommit(commit)),
    };
    await settings.change(userId, (stored) => install(stored, kind, name, item, true));
    await sources.release(userId, before);
    const isOff = before.enabled && !item.enabled;
    const message = isOff
      ? `${name} was read again. It has changed, so it is off until somebody switches it on.`
      : `${name} was read again.`;
    return await reply(item, message);
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
