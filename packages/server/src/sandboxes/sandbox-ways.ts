import { chown, mkdir, stat } from "node:fs/promises";
import type { NetworkPolicy } from "@convoke/protocol";
import type { BoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import type { BoundSecret, EgressRecord, HostTotals, RefusalsSince } from "../egress/egress.ts";
import { GitPlaceholders } from "../egress/git-placeholders.ts";
import type { InsideTrust } from "../egress/inside-egress.ts";
import type { SharedTrust, WayOut } from "../egress/way-out.ts";
import { describeError } from "../lib/describe-error.ts";
import type { Logger } from "../lib/logger.ts";
import type { Account, SandboxDirectory } from "./sandbox-directory.ts";
import { ifThere } from "../lib/if-there.ts";

export type SandboxWaysDeps = {
  /** What sandboxes may reach whose spec does not say. */
  readonly policy: NetworkPolicy;
  /** What the owner of a sandbox may reach at most, at once from memory; undefined for everything. */
  readonly limitOf: (sandboxId: string) => NetworkPolicy | undefined;
  /** The server's, for the machine's own proxy. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** True for an address and port at which this server listens. */
  readonly isOwnListener: (address: string, port: number) => boolean;
  /** By sandbox; those of this process's conversations are in it already. */
  readonly boundSecrets: Pick<BoundSecretRegistry, "set" | "ofWall" | "watch">;
  /** Called for everything that passed or was refused on the way out of a sandbox. Must not throw. */
  readonly onRecord: (sandboxId: string, record: EgressRecord) => void;
  readonly logger: Logger;
};

export type WayOrder = {
  readonly id: string;
  readonly directory: SandboxDirectory;
  /** What the key of its authority is made from. */
  readonly authority: string;
  /** Of its spec; the server's unless given. */
  readonly policy?: NetworkPolicy | undefined;
};

type Way = {
  readonly out: WayOut;
  readonly git: GitPlaceholders;
  readonly unwatch: () => void;
  readonly grants: Map<string, readonly string[]>;
  /** Conversations of other processes that have bound secrets. */
  readonly received: Set<string>;
  /** As JSON, as it counts now. */
  limit: string;
};

/** How long a changed limit of an owner may not count yet. */
const checkMs = 2_000;

/** The ways out of the sandboxes that this process manages. While it is gone they lead nowhere. */
export class SandboxWays implements AsyncDisposable {
  readonly #deps: SandboxWaysDeps;
  #trust: SharedTrust | null = null;
  readonly #ways = new Map<string, Way>();
  readonly #checking: NodeJS.Timeout;

  constructor(deps: SandboxWaysDeps) {
    this.#deps = deps;
    this.#checking = setInterval(() => this.checkLimits(), checkMs).unref();
  }

  /** Reads what owners may reach, and cuts what they may not any more; by itself every two seconds. */
  checkLimits(): void {
    for (const [id, way] of this.#ways) {
      const limit = JSON.stringify(this.#deps.limitOf(id) ?? null);
      if (limit === way.limit) continue;
      way.limit = limit;
      way.out.refresh();
    }
  }

  /** For a sandbox that is about to start; its socket belongs to `owner`, or to this process's user. */
  async open(order: WayOrder, owner: Account | undefined): Promise<InsideTrust> {
    const { egressDir } = order.directory;
    await mkdir(egressDir, { recursive: true, mode: 0o700 });
    if (owner !== undefined) await chown(egressDir, owner.uid, owner.gid);
    return await this.#openWay(order);
  }

  /** For a sandbox that runs; does nothing for one that was started without a way out. */
  async reopen(order: WayOrder): Promise<void> {
    if ((await ifThere(stat(order.directory.egressDir), null)) !== null) await this.#openWay(order);
  }

  /** Ends it for good. Does nothing when there is none. */
  async close(id: string): Promise<void> {
    const way = this.#ways.get(id);
    this.#ways.delete(id);
    for (const conversationId of way?.received ?? [])
      this.#deps.boundSecrets.set({ conversationId, wallOf: id }, []);
    way?.unwatch();
    await way?.git.settled();
    await way?.out.close();
  }

  /**
   * What a conversation in the sandbox was granted, written as in `allow`; everything in the sandbox reaches these hosts then. Replaces what
   * was set for that conversation before. Does nothing for a sandbox without a way out. Throws a `Fault` for a wrong host.
   */
  setGrants(id: string, conversationId: string, hosts: readonly string[]): void {
    const way = this.#ways.get(id);
    if (way === undefined) return;
    const before = way.grants.get(conversationId) ?? [];
    way.out.grant(hosts);
    if (hosts.length === 0) way.grants.delete(conversationId);
    else way.grants.set(conversationId, hosts);
    const granted = new Set([...way.grants.values()].flat());
    const gone = before.filter((host) => !granted.has(host));
    if (gone.length > 0) way.out.revoke(gone);
  }

  /**
   * What a conversation of another process has bound to hosts. Replaces what was set for it before. Does nothing for a sandbox without a way
   * out.
   */
  setSecrets(id: string, conversationId: string, secrets: readonly BoundSecret[]): void {
    const way = this.#ways.get(id);
    if (way === undefined) return;
    if (secrets.length === 0) way.received.delete(conversationId);
    else way.received.add(conversationId);
    this.#deps.boundSecrets.set({ conversationId, wallOf: id }, secrets);
  }

  /** True for a sandbox that was started, or found again, with a way out. */
  has(id: string): boolean {
    return this.#ways.has(id);
  }

  refusalsSince(id: string, mark: number): RefusalsSince {
    return this.#ways.get(id)?.out.refusalsSince(mark) ?? { mark: 0, text: "" };
  }

  totals(id: string): readonly HostTotals[] {
    return this.#ways.get(id)?.out.totals() ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#checking);
    await Promise.all([...this.#ways.keys()].map((id) => this.close(id)));
  }

  async #openWay(order: WayOrder): Promise<InsideTrust> {
    const way = await this.#wayOf(order);
    const trust = await way.out.open();
    await way.git.write();
    return trust;
  }

  /** Its code is loaded with the first one: a server answers without it. */
  async #wayOf({ id, directory, authority, policy: own }: WayOrder): Promise<Way> {
    const [{ SharedTrust, WayOut }, { deriveAuthorityKey }] = await Promise.all([
      import("../egress/way-out.ts"),
      import("../egress/certificates/derive-authority-key.ts"),
    ]);
    const known = this.#ways.get(id);
    if (known !== undefined) return known;
    const { policy, limitOf, environment, isOwnListener, boundSecrets, onRecord, logger } = this.#deps;
    const out = new WayOut({
      folder: directory.egressDir,
      trust: (this.#trust ??= new SharedTrust()),
      environment,
      policies: () => {
        const max = limitOf(id);
        const limitedBy = max === undefined ? [] : [{ source: "user" as const, policy: max }];
        return { policy: own ?? policy, limitedBy };
      },
      // A secret opens no host here: the network of a sandbox is that of its spec, for all its conversations.
      secrets: () => boundSecrets.ofWall(id),
      isOwnListener,
      onRecord: (record) => onRecord(id, record),
      onUnexpected: (error, message) =>
        logger.error({ reason: describeError(error), sandbox: id }, `in the way out, ${message}`),
      authorityKey: deriveAuthorityKey(authority),
    });
    const git = new GitPlaceholders({
      folder: directory.egressDir,
      secrets: () => boundSecrets.ofWall(id),
    });
    const unwatch = boundSecrets.watch(id, () => {
      git.write().catch((error: unknown) => {
        const fields = { sandbox: id, error: describeError(error) };
        logger.warn(fields, "git's placeholders in a sandbox could not be written");
      });
    });
    const way: Way = {
      out,
      git,
      unwatch,
      grants: new Map(),
      received: new Set(),
      limit: JSON.stringify(limitOf(id) ?? null),
    };
    this.#ways.set(id, way);
    return way;
  }
}
