import { isIP } from "node:net";
import {
  connect,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from "node:tls";
import type { Dial } from "../addresses/dial.ts";
import { socketBufferBytes, whenConnected } from "../addresses/sockets.ts";
import type { EgressOptions } from "../egress.ts";
import type { Target } from "../../lib/host-name.ts";

/** Opens TLS to a target, with its name and no other. Rejects with `Refused` or `Unreachable`. */
export type DialTls = (
  target: Target,
  protocols: readonly string[],
  signal: AbortSignal,
) => Promise<TLSSocket>;

/** Trust in the roots of Node and of the system. Reading them takes tens of milliseconds, so make one for all walls. */
export function createUpstreamTrust(): SecureContext {
  return createSecureContext({ ca: [...getCACertificates("default"), ...getCACertificates("system")] });
}

export function createDialTls(dial: Dial, trust: EgressOptions["upstreamTrust"], connectMs: number): DialTls {
  let own: SecureContext | null = null;
  const contextOf = (): SecureContext => trust?.() ?? (own ??= createUpstreamTrust());
  return async (target, protocols, signal) => {
    const socket = await dial(target, signal);
    // A connection for requests is over when its host ends it; Node sees that of no half-open one.
    socket.allowHalfOpen = false;
    const options = {
      socket,
      host: target.host,
      // A name only: addresses are not sent.
      ...(isIP(target.host) === 0 ? { servername: target.host } : {}),
      ALPNProtocols: [...protocols],
      secureContext: contextOf(),
      highWaterMark: socketBufferBytes,
    };
    return await whenConnected(connect(options), { target, timeoutMs: connectMs, signal }, "secureConnect");
  };
}
