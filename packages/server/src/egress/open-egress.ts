import { rm } from "node:fs/promises";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { onceUnlessRejected } from "@convoke/protocol";
import { createDial } from "./addresses/dial.ts";
import { socketBufferBytes } from "./addresses/sockets.ts";
import { secretsFor } from "./bound-secrets.ts";
import { CertificateAuthority } from "./certificates/certificate-authority.ts";
import { defaultLimits, type Egress, type EgressOptions } from "./egress.ts";
import type { ForwardContext } from "./forward/forward-context.ts";
import { UpstreamAgent } from "./forward/upstream-agent.ts";
import { Front } from "./front/front.ts";
import { inodeOf, listen } from "./front/listen.ts";
import { Interceptor } from "./intercept/interceptor.ts";
import { createDialTls } from "./intercept/upstream-tls.ts";
import { createTunnelOpener } from "./open-tunnel.ts";
import { EgressPolicy } from "./policy/egress-policy.ts";
import { EgressLedger } from "./records/egress-ledger.ts";
import { OpenConnections } from "./records/open-connections.ts";
import { isUnexpected } from "./records/refusal.ts";
import { Tunnels } from "./records/tunnels.ts";

/**
 * One wall's way out: a Unix socket, mode 0600, that speaks HTTP proxy (`CONNECT` and absolute addresses) and SOCKS 5. Rejects with a
 * `Fault` for a policy with a wrong host, and where it cannot listen.
 */
export async function openEgress(options: EgressOptions): Promise<Egress> {
  const limits = { ...defaultLimits, ...options.limits };
  const policy = new EgressPolicy(options);
  const ledger = new EgressLedger(options.onRecord, limits.refusalWindowMs);
  const connections = new OpenConnections();
  const tunnels = new Tunnels(ledger, connections, limits);
  const dial = createDial({ ...options, policy, connections, limits });
  const context: ForwardContext = {
    policy,
    ledger,
    tunnels,
    connections,
    limits,
    secretsFor: (target) => secretsFor(options.secrets(), target),
    report: (error, message) => {
      if (isUnexpected(error)) options.onUnexpected(error, message);
    },
  };
  const authority = new CertificateAuthority(Date.now, options.authorityKey ?? null);
  const agent = new UpstreamAgent(dial);
  const dialTls = createDialTls(dial, options.upstreamTrust, limits.connectMs);
  const interceptor = new Interceptor({ context, authority, dialTls, plainAgent: agent });
  const openTunnel = createTunnelOpener({ context, dial, interceptor });

  const front = new Front({ context, agent, onTunnel: openTunnel });
  const clients = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, highWaterMark: socketBufferBytes }, (socket) => {
    // As many again are told that there are too many.
    if (clients.size >= 2 * limits.maxConnections) return void socket.destroy();
    clients.add(socket);
    socket.on("error", () => socket.destroy()).once("close", () => clients.delete(socket));
    if (clients.size > limits.maxConnections) return front.refuseConnection(socket);
    void front.serve(socket);
  });
  const inode = await listen(server, options.socketPath, (error) =>
    options.onUnexpected(error, "a connection could not be accepted"),
  );

  return {
    certificate: authority.certificate,
    publicKeyDigest: authority.publicKeyDigest,
    setPolicies: (policies) => (policy.set(policies), connections.recheck()),
    grant: (hosts) => policy.grant(hosts),
    revoke: (hosts) => (policy.revoke(hosts), connections.recheck()),
    totals: () => ledger.totals(),
    refusalsSince: (mark) => ledger.refusalsSince(mark),
    close: onceUnlessRejected(async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of clients) socket.destroy();
      agent.destroy();
      interceptor[Symbol.dispose]();
      connections.endAll();
      await closed;
      // Another server may have put its own in the place.
      if ((await inodeOf(options.socketPath)) === inode) await rm(options.socketPath, { force: true });
      ledger[Symbol.dispose]();
    }),
  };
}
