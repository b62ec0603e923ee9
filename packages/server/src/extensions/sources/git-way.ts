import { writeFile } from "node:fs/promises";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import type { NetworkPolicy } from "@convoke/protocol";
import type { BoundSecret, EgressOptions, EgressRecord } from "../../egress/egress.ts";
import { findParentProxy } from "../../egress/addresses/find-parent-proxy.ts";
import { openEgress } from "../../egress/open-egress.ts";
import type { EgressPolicies } from "../../egress/policy/egress-policy.ts";
import { authorityIn } from "./git-program.ts";
import { formatTarget, type Target } from "../../lib/host-name.ts";

export type GitWayDeps = Pick<EgressOptions, "isOwnListener" | "onUnexpected"> & {
  /** The server's, for the machine's own proxy. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onRecord: (userId: string, record: EgressRecord) => void;
  /** How hosts are reached; as this machine does unless given. */
  readonly outside?: Pick<EgressOptions, "resolve" | "connect" | "upstreamTrust"> | undefined;
};

export type GitWayOrder = {
  readonly userId: string;
  /** An empty private folder for the socket and the certificate. */
  readonly folder: string;
  /** The only host that may be reached, as far as the other policies allow it. */
  readonly target: Target;
  readonly limitedBy: EgressPolicies["limitedBy"];
  readonly secret: BoundSecret | null;
  /** Bytes that may come from the host. */
  readonly maxBytes: number;
};

/** The network of one git: one host, read-only, through the policies, with a bound on what comes in. */
export type GitWay = AsyncDisposable & {
  /** `http://127.0.0.1:port` */
  readonly proxy: string;
  /** Why the network refused, in a sentence; null while it did not. */
  readonly refusal: () => string | null;
  readonly isTooLarge: () => boolean;
};

/**
 * Git knows no proxy on a Unix socket, so that one on loopback stands before the way out for as long as git runs. Everything is read on
 * the way: the way's own authority is the only one that git trusts.
 */
export async function openGitWay(deps: GitWayDeps, order: GitWayOrder): Promise<GitWay> {
  const { target, folder, userId, secret, maxBytes } = order;
  await using scope = new AsyncDisposableStack();
  const host = formatTarget(target);
  // Private too, where the policies around it say so.
  const policy: NetworkPolicy = { read_only: [host], private: [host] };
  let refusal: string | null = null;
  let received = 0;
  const socketPath = join(folder, "way.sock");
  const egress = await openEgress({
    policy,
    limitedBy: order.limitedBy,
    socketPath,
    secrets: () => (secret === null ? [] : [secret]),
    isOwnListener: deps.isOwnListener,
    onRecord: (record) => {
      if (record.kind === "refusal") refusal ??= record.sentence;
      deps.onRecord(userId, record);
    },
    onUnexpected: deps.onUnexpected,
    parentProxy: findParentProxy(deps.environment),
    limits: { maxConnections: 16, idleMs: 60_000 },
    ...deps.outside,
  });
  scope.defer(() => egress.close());
  await writeFile(authorityIn(folder), egress.certificate, { mode: 0o600 });
  const sockets = new Set<Socket>();
  const relay = createServer({ allowHalfOpen: true }, (inner) => {
    const outer = connect({ path: socketPath, allowHalfOpen: true });
    const pair = [inner, outer] as const;
    const end = (): void => {
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair)
      sockets.add(socket.on("error", end).once("close", () => (sockets.delete(socket), end())));
    outer.on("data", (bytes) => {
      received += bytes.byteLength;
      if (received > maxBytes) end();
    });
    inner.pipe(outer).pipe(inner);
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  scope.defer(() => {
    relay.close();
    for (const socket of sockets) socket.destroy();
  });
  const owned = scope.move();
  return {
    proxy: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    refusal: () => refusal,
    isTooLarge: () => received > maxBytes,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
