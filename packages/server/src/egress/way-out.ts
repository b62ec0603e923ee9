import type { KeyObject } from "node:crypto";
import { chown, open, type FileHandle } from "node:fs/promises";
import type { SecureContext } from "node:tls";
import { descriptorPath } from "@convoke/tool-host/system";
import { findParentProxy } from "./addresses/find-parent-proxy.ts";
import { composeTrustBundle, readSystemRoots } from "./certificates/trust-bundle.ts";
import type { Egress, EgressOptions, HostTotals, RefusalsSince } from "./egress.ts";
import type { InsideTrust } from "./inside-egress.ts";
import { createUpstreamTrust } from "./intercept/upstream-tls.ts";
import { openEgress } from "./open-egress.ts";
import type { EgressPolicies } from "./policy/egress-policy.ts";

/** What all ways out of a server share: reading the system's roots takes tens of milliseconds. */
export class SharedTrust {
  #roots: Promise<string> | null = null;
  #upstream: SecureContext | null = null;

  async roots(): Promise<string> {
    return await (this.#roots ??= readSystemRoots());
  }

  readonly upstream = (): SecureContext => (this.#upstream ??= createUpstreamTrust());
}

export type WayOutOptions = Pick<EgressOptions, "secrets" | "isOwnListener" | "onRecord" | "onUnexpected"> & {
  /** As they are now; see {@link WayOut.refresh}. */
  readonly policies: () => Omit<EgressPolicies, "registries">;
  /** Absolute; shows inside, read-only. The socket in it belongs to the owner of the folder. */
  readonly folder: string;
  readonly trust: SharedTrust;
  /** The server's, for the machine's own proxy. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Null for an authority that ends with this process. */
  readonly authorityKey: KeyObject | null;
  /** How hosts are reached; as this machine does unless given. */
  readonly outside?: Pick<EgressOptions, "resolve" | "connect" | "upstreamTrust"> | undefined;
};

/** The server's side of one inside. It outlives single processes of the inside; grants also outlive {@link WayOut.close}. */
export class WayOut {
  readonly #options: WayOutOptions;
  #opening: Promise<Egress> | null = null;
  #opened: Egress | null = null;
  #folder: FileHandle | null = null;
  #registries: readonly string[] = [];
  readonly #granted = new Set<string>();

  constructor(options: WayOutOptions) {
    this.#options = options;
  }

  /** Before it is open as well. Throws a `Fault` for a wrong host. */
  grant(hosts: readonly string[]): void {
    this.#opened?.grant(hosts);
    for (const host of hosts) this.#granted.add(host);
  }

  /** Ends grants, and cuts the connections that only they allowed. */
  revoke(hosts: readonly string[]): void {
    for (const host of hosts) this.#granted.delete(host);
    this.#opened?.revoke(hosts);
  }

  /** Reads the policies again, and cuts what they do not allow any more. */
  refresh(): void {
    this.#opened?.setPolicies({ ...this.#options.policies(), registries: this.#registries });
  }

  /** Opens it unless it is open. `registries` are further hosts of the preset, such as those that a person's settings name. */
  async open(registries: readonly string[] = []): Promise<InsideTrust> {
    this.#opening ??= this.#open(registries).catch(async (error: unknown) => {
      // The next start tries again: perhaps the disk was full for a moment.
      this.#opening = null;
      await this.#folder?.close();
      this.#folder = null;
      throw error;
    });
    const { certificate, publicKeyDigest } = await this.#opening;
    const bundle = composeTrustBundle(await this.#options.trust.roots(), certificate);
    return { authority: certificate, bundle, publicKeyDigest };
  }

  refusalsSince(mark: number): RefusalsSince {
    return this.#opened?.refusalsSince(mark) ?? { mark: 0, text: "" };
  }

  totals(): readonly HostTotals[] {
    return this.#opened?.totals() ?? [];
  }

  /** Until it is opened again. */
  async close(): Promise<void> {
    const [opening, folder] = [this.#opening, this.#folder];
    this.#opening = this.#opened = this.#folder = null;
    // Why it could not be opened was told to the caller of `open`.
    await (await opening?.catch(() => null))?.close();
    await folder?.close();
  }

  async #open(registries: readonly string[]): Promise<Egress> {
    const { folder, environment, trust, policies, outside, ...options } = this.#options;
    this.#registries = registries;
    // The path of a socket may have a hundred characters only, and that of the data folder is the user's choice.
    this.#folder = await open(folder);
    const socketPath = `${descriptorPath(this.#folder.fd)}/proxy.sock`;
    const opened = await openEgress({
      ...options,
      ...policies(),
      socketPath,
      registries,
      parentProxy: findParentProxy(environment),
      upstreamTrust: trust.upstream,
      ...outside,
    });
    try {
      const { uid, gid } = await this.#folder.stat();
      // Only root can serve an inside of another user.
      if (uid !== process.getuid?.()) await chown(socketPath, uid, gid);
      opened.grant([...this.#granted]);
    } catch (error) {
      await opened.close();
      throw error;
    }
    return (this.#opened = opened);
  }
}
