import { randomUUID } from "node:crypto";
import { chown, open, rename, writeFile, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { SecureContext } from "node:tls";
import { findParentProxy } from "../egress/addresses/find-parent-proxy.ts";
import { readSystemRoots, composeTrustBundle, trustStorePaths } from "../egress/certificates/trust-bundle.ts";
import type { Egress, RefusalsSince } from "../egress/egress.ts";
import { createUpstreamTrust } from "../egress/intercept/upstream-tls.ts";
import { openEgress } from "../egress/open-egress.ts";
import type { EgressPolicies } from "../egress/policy/egress-policy.ts";
import { withBoundHosts } from "../egress/policy/bound-hosts.ts";
import { describeError } from "../lib/describe-error.ts";
import { gitCredentialFiles } from "./git-credentials.ts";
import { isRegularFile } from "./is-regular-file.ts";
import { javaFiles, type Java } from "./java.ts";
import type { WallAccount } from "./wall-account.ts";
import type { BubblewrapWallsDeps } from "./walls-deps.ts";
import type { WallOrder } from "./wall.ts";

/** Where the way out is inside. */
export const insideEgress = {
  folder: "/run/convoke-egress",
  socket: "/run/convoke-egress/proxy.sock",
  bundle: "/run/convoke-trust/bundle.pem",
  authority: "/run/convoke-trust/authority.pem",
} as const;

/** What all walls of a server share: reading the system's roots takes tens of milliseconds. */
export class SharedTrust {
  #roots: Promise<string> | null = null;
  #upstream: SecureContext | null = null;

  async roots(): Promise<string> {
    return await (this.#roots ??= readSystemRoots());
  }

  readonly upstream = (): SecureContext => (this.#upstream ??= createUpstreamTrust());
}

export type WallTrust = {
  /** Content of the trust stores inside, by path. */
  readonly files: Readonly<Record<string, string | Buffer>>;
  readonly publicKeyDigest: string;
};

export type WallEgressDeps = Pick<
  BubblewrapWallsDeps,
  "environment" | "isOwnListener" | "boundSecrets" | "onEgress" | "logger"
> & {
  readonly order: WallOrder;
  /** Absolute; shows inside, read-only. */
  readonly folder: string;
  readonly trust: SharedTrust;
};

/** The way out of one wall. It outlives single processes of the wall; grants also outlive {@link WallEgress.close}. */
export class WallEgress {
  readonly #deps: WallEgressDeps;
  #opening: Promise<Egress> | null = null;
  #opened: Egress | null = null;
  #folder: FileHandle | null = null;
  #unwatch = (): void => {};
  /** Files are written one after another, the latest secrets last. */
  #writing: Promise<void> = Promise.resolve();
  readonly #granted = new Set<string>();

  constructor(deps: WallEgressDeps) {
    this.#deps = deps;
    this.grant(deps.order.granted);
  }

  /** Before the way out is open as well. Throws a `Fault` for a wrong host. */
  grant(hosts: readonly string[]): void {
    this.#opened?.grant(hosts, "conversation");
    for (const host of hosts) this.#granted.add(host);
  }

  /** What the inside trusts. `registries` are hosts of the preset that the person's settings name. */
  async open(account: WallAccount, registries: readonly string[], java: Java): Promise<WallTrust> {
    this.#opening ??= this.#open(account, registries).catch(async (error: unknown) => {
      // The next start tries again: perhaps the disk was full for a moment.
      this.#opening = null;
      this.#unwatch();
      await this.#folder?.close();
      this.#folder = null;
      throw error;
    });
    const { certificate, publicKeyDigest } = await this.#opening;
    const bundle = composeTrustBundle(await this.#deps.trust.roots(), certificate);
    const files: Record<string, string | Buffer> = {
      ...(await javaFiles(java, bundle)),
      [insideEgress.bundle]: bundle,
      [insideEgress.authority]: certificate,
    };
    for (const path of trustStorePaths) if (await isRegularFile(path)) files[path] = bundle;
    return { files, publicKeyDigest };
  }

  refusalsSince(mark: number): RefusalsSince {
    return this.#opened?.refusalsSince(mark) ?? { mark: 0, text: "" };
  }

  /** Until it is opened again. */
  async close(): Promise<void> {
    const [opening, folder] = [this.#opening, this.#folder];
    this.#opening = this.#opened = this.#folder = null;
    this.#unwatch();
    await this.#writing;
    // Why it could not be opened was told to the caller of `open`.
    await (await opening?.catch(() => null))?.close();
    await folder?.close();
  }

  async #open({ become }: WallAccount, registries: readonly string[]): Promise<Egress> {
    const { order, folder, environment, isOwnListener, boundSecrets, onEgress, trust, logger } = this.#deps;
    const { limit, rootId } = order;
    const policies = (): EgressPolicies => ({
      policy: withBoundHosts(order.network, boundSecrets.ofWall(rootId)),
      limitedBy: limit === null ? [] : [{ source: "server", policy: limit }],
      registries,
    });
    // The path of a socket may have a hundred characters only, and that of the data folder is the user's choice.
    this.#folder = await open(folder);
    const socketPath = `/proc/self/fd/${this.#folder.fd}/proxy.sock`;
    const opened = await openEgress({
      socketPath,
      ...policies(),
      secrets: () => boundSecrets.ofWall(rootId),
      isOwnListener,
      onRecord: (record) => onEgress(rootId, record),
      onUnexpected: (error, message) =>
        logger.error({ reason: describeError(error), conversation: rootId }, `in the way out, ${message}`),
      parentProxy: findParentProxy(environment),
      upstreamTrust: trust.upstream,
    });
    try {
      if (become !== null) await chown(socketPath, become.uid, become.gid);
      opened.grant([...this.#granted], "conversation");
      this.#unwatch = boundSecrets.watch(rootId, () => {
        opened.setPolicies(policies());
        this.#queueGitFiles().catch((error: unknown) => {
          const fields = { conversation: rootId, error: describeError(error) };
          logger.warn(fields, "git's placeholders in a wall could not be written");
        });
      });
      // They may have changed while the socket was opened.
      opened.setPolicies(policies());
      await this.#queueGitFiles();
    } catch (error) {
      this.#unwatch();
      await opened.close();
      throw error;
    }
    return (this.#opened = opened);
  }

  /** One after the other, so that the newest stays. */
  async #queueGitFiles(): Promise<void> {
    const written = this.#writing.then(() => this.#writeGitFiles());
    // The caller gets the error; the next one is not held up.
    this.#writing = written.catch(() => {});
    await written;
  }

  async #writeGitFiles(): Promise<void> {
    const { boundSecrets, folder, order } = this.#deps;
    const files = gitCredentialFiles(boundSecrets.ofWall(order.rootId));
    for (const [name, text] of Object.entries(files)) {
      // A name of its own: the folder may belong to another user.
      const draft = join(folder, `.${randomUUID()}`);
      await writeFile(draft, text, { mode: 0o644, flag: "wx" });
      await rename(draft, join(folder, name));
    }
  }
}
