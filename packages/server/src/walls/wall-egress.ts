import { GitPlaceholders } from "../egress/git-placeholders.ts";
import { trustFiles } from "../egress/inside-egress.ts";
import { withBoundHosts } from "../egress/policy/bound-hosts.ts";
import { WayOut, type SharedTrust } from "../egress/way-out.ts";
import { describeError } from "../lib/describe-error.ts";
import { javaFiles, type Java } from "./java.ts";
import type { StartedWallsDeps } from "./walls-deps.ts";
import type { WallOrder } from "./wall.ts";

export type WallTrust = {
  /** Content of the trust stores inside, by path. */
  readonly files: Readonly<Record<string, string | Buffer>>;
  readonly publicKeyDigest: string;
};

export type WallEgressDeps = Pick<
  StartedWallsDeps,
  "environment" | "isOwnListener" | "boundSecrets" | "onEgress" | "logger" | "outside"
> & {
  readonly order: WallOrder;
  /** Absolute; shows inside, read-only, and belongs to the wall's user. */
  readonly folder: string;
  readonly trust: SharedTrust;
};

/** The way out of one wall. It outlives single processes of the wall; grants also outlive {@link WallEgress.close}. */
export class WallEgress {
  readonly #deps: WallEgressDeps;
  readonly way: WayOut;
  #unwatch: (() => void) | null = null;
  readonly #git: GitPlaceholders;

  constructor(deps: WallEgressDeps) {
    const { order, folder, trust, environment, isOwnListener, boundSecrets, onEgress, logger, outside } =
      deps;
    const { network, limitedBy, rootId, granted } = order;
    this.#deps = deps;
    this.#git = new GitPlaceholders({ folder, secrets: () => boundSecrets.ofWall(rootId) });
    this.way = new WayOut({
      folder,
      trust,
      environment,
      isOwnListener,
      policies: () => ({
        policy: withBoundHosts(network, boundSecrets.ofWall(rootId)),
        limitedBy,
      }),
      secrets: () => boundSecrets.ofWall(rootId),
      onRecord: (record) => onEgress(rootId, record),
      onUnexpected: (error, message) =>
        logger.error({ reason: describeError(error), conversation: rootId }, `in the way out, ${message}`),
      authorityKey: null,
      outside,
    });
    this.way.grant(granted);
  }

  /** What the inside trusts. `registries` are hosts of the preset that the person's settings name. */
  async open(registries: readonly string[], java: Java): Promise<WallTrust> {
    const trust = await this.way.open(registries);
    this.#unwatch ??= this.#watchSecrets();
    // They may have changed since it was opened.
    this.way.refresh();
    await this.#git.write();
    const files = { ...(await javaFiles(java, trust.bundle)), ...(await trustFiles(trust)) };
    return { files, publicKeyDigest: trust.publicKeyDigest };
  }

  /** Until it is opened again. */
  async close(): Promise<void> {
    this.#unwatch?.();
    this.#unwatch = null;
    await this.#git.settled();
    await this.way.close();
  }

  #watchSecrets(): () => void {
    const { boundSecrets, logger, order } = this.#deps;
    return boundSecrets.watch(order.rootId, () => {
      this.way.refresh();
      this.#git.write().catch((error: unknown) => {
        const fields = { conversation: order.rootId, error: describeError(error) };
        logger.warn(fields, "git's placeholders in a wall could not be written");
      });
    });
  }
}
