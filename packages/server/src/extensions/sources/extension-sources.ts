import type { SecretSource } from "@convoke/protocol";
import type { EgressPolicies } from "../../egress/policy/egress-policy.ts";
import { Fault } from "../../lib/fault.ts";
import type { SecretStore } from "../../settings/secret-store.ts";
import type { SettingsStore } from "../../settings/settings-store.ts";
import type { StoredInstallation, StoredPin, StoredSettings } from "../../settings/stored-settings.ts";
import type { SkillFiles } from "../skills/skill-cache.ts";
import { noteFiles, type FolderNote } from "./describe-folder.ts";
import type { CopyName, ExtensionCopies } from "./extension-copies.ts";
import { isCommit, readSource, type GitSource, type GivenSource } from "./extension-source.ts";
import type { FetchDeps } from "./fetch-folder.ts";
import { findLogin } from "./git-login.ts";
import type { CopiedFile } from "./folder-content.ts";

export type ExtensionSourcesDeps = {
  readonly copies: ExtensionCopies;
  readonly fetch: FetchDeps;
  readonly settings: SettingsStore;
  readonly secrets: Pick<SecretStore, "values">;
  /** The policies of the server and of a user, which say what may be fetched from. */
  readonly policiesOf: (userId: string) => EgressPolicies["limitedBy"];
  /** Files of this machine. */
  readonly localFiles: SkillFiles;
  /** Files of the machine that tools run on. */
  readonly files: SkillFiles;
  /** Throws for users without access to the folders of that machine. */
  readonly requireMachine: (userId: string) => void;
};

/** Where to read a plugin, a skill or a canvas extension. */
export type OpenedSource = {
  readonly files: SkillFiles;
  readonly directory: string;
  /** Null for a folder of the machine. */
  readonly copy: OpenedCopy | null;
};

export type OpenedCopy = {
  readonly pin: StoredPin;
  /** The folder below the root of the repository; empty for the root. */
  readonly inside: string;
  readonly content: readonly CopiedFile[];
  readonly notes: readonly FolderNote[];
};

export type OpenOptions = {
  readonly loc: readonly (string | number)[];
  readonly timeoutMs?: number;
  /** Secrets of the request; those that are bound to the host count before stored ones. */
  readonly secrets?: Readonly<Record<string, SecretSource>>;
};

const defaultTimeoutMs = 60_000;
/** Of all users of this process. */
const maxFetches = 4;

/** Opens what requests name: folders of the machine where they are, and folders of git repositories as copies of one commit. */
export class ExtensionSources {
  readonly copies: ExtensionCopies;
  readonly #deps: ExtensionSourcesDeps;
  #fetches = 0;

  constructor(deps: ExtensionSourcesDeps) {
    this.#deps = deps;
    this.copies = deps.copies;
  }

  /** Fetches what is not there yet. Throws a `Fault` that names the field below `loc`. */
  async open(userId: string, given: GivenSource, options: OpenOptions): Promise<OpenedSource> {
    const source = readSource(given, options.loc);
    if (source.kind === "folder") {
      this.#deps.requireMachine(userId);
      return { files: this.#deps.files, directory: source.directory, copy: null };
    }
    const { name, commit, submodules } = await this.#copyOf(userId, source, options);
    const opened = await this.openCopy(userId, name.digest);
    if (opened === null) throw copyMissing();
    const content = await this.contentOf(userId, name.digest);
    // The commit that was asked for says nothing about how it is found again.
    const ref = isCommit(source.ref) ? null : source.ref;
    const pin = { ref, commit, id: name.id, digest: name.digest };
    return {
      ...opened,
      copy: { pin, inside: source.inside, content, notes: noteFiles(content, submodules) },
    };
  }

  /** Where an installation is read; null when its copy is gone. */
  async openInstalled(
    userId: string,
    { pin, install_path: directory }: StoredInstallation,
  ): Promise<Omit<OpenedSource, "copy"> | null> {
    if (pin === undefined) return { files: this.#deps.files, directory };
    return await this.openCopy(userId, pin.digest);
  }

  /** A copy that a user has; null for none. */
  async openCopy(userId: string, digest: string): Promise<Omit<OpenedSource, "copy"> | null> {
    const directory = await this.copies.folderOf(userId, digest);
    return directory === null ? null : { files: this.#deps.localFiles, directory };
  }

  /** What is in a copy; empty when the user has none. */
  async contentOf(userId: string, digest: string): Promise<CopiedFile[]> {
    return ((await this.copies.filesOf(userId, digest)) ?? []).map(withoutLabel);
  }

  /** Removes the copy of an installation that is gone, unless another one uses it. */
  async release(userId: string, { pin }: StoredInstallation): Promise<void> {
    if (pin === undefined) return;
    const { settings } = await this.#deps.settings.load(userId);
    if (!usedCopies(settings).has(pin.id)) await this.copies.remove(userId, pin.id);
  }

  async #copyOf(
    userId: string,
    source: GitSource,
    { timeoutMs = defaultTimeoutMs, secrets: given = {} }: OpenOptions,
  ): Promise<{ readonly name: CopyName; readonly commit: string; readonly submodules: readonly string[] }> {
    if (isCommit(source.ref)) {
      const name = await this.copies.find(userId, source, source.ref);
      if (name !== null) return { name, commit: source.ref, submodules: [] };
    }
    const { secrets, settings, fetch, policiesOf } = this.#deps;
    const stored = (await settings.load(userId)).settings;
    const secret = findLogin(source.target, {
      given,
      stored: await secrets.values(userId),
      tokens: stored.providerTokens,
    });
    const order = { userId, source, limitedBy: policiesOf(userId), secret, timeoutMs };
    using _turn = this.#begin();
    // With the first one: a server answers without it.
    const { fetchFolder } = await import("./fetch-folder.ts");
    const { commit, files, submodules } = await fetchFolder(fetch, order);
    await this.copies.tidy(userId, usedCopies(stored));
    return { name: await this.copies.put(userId, source, commit, files), commit, submodules };
  }

  #begin(): Disposable {
    if (this.#fetches >= maxFetches)
      throw new Fault("not-now", "too_many_fetches", "Other repositories are being fetched. Try again.", [], {
        retryAfterSeconds: 5,
      });
    this.#fetches += 1;
    return { [Symbol.dispose]: () => void (this.#fetches -= 1) };
  }
}

/** As it is in the repository: all of a copy is below one folder. */
function withoutLabel(file: CopiedFile): CopiedFile {
  return { ...file, path: file.path.slice(file.path.indexOf("/") + 1) };
}

/** The copies that installations of a user need. */
function usedCopies(settings: StoredSettings): ReadonlySet<string> {
  const { installedSkills, installedPlugins, installedCanvasExtensions } = settings;
  const all = [installedSkills, installedPlugins, installedCanvasExtensions].flatMap((kind) =>
    Object.values(kind),
  );
  return new Set(all.flatMap(({ pin }) => (pin === undefined ? [] : [pin.id])));
}

export function copyMissing(): Fault {
  return new Fault("conflict", "copy_missing", "The copy is not in the store any more. Fetch it again.");
}
