import type { Socket } from "node:net";
import type { CertificateAuthority } from "../certificates/certificate-authority.ts";
import type { ForwardContext } from "../forward/forward-context.ts";
import { UpstreamAgent } from "../forward/upstream-agent.ts";
import { formatTarget, type Target } from "../../lib/host-name.ts";
import { Http2Upstream } from "./http2-upstream.ts";
import { InterceptedHost } from "./intercepted-host.ts";
import type { DialTls } from "./upstream-tls.ts";

export type InterceptorDeps = {
  readonly context: ForwardContext;
  readonly authority: CertificateAuthority;
  readonly dialTls: DialTls;
  /** For plain HTTP inside of tunnels. */
  readonly plainAgent: UpstreamAgent;
};

/** Reads what passes to some hosts, with certificates of the wall's authority. */
export class Interceptor implements Disposable {
  readonly #deps: InterceptorDeps;
  readonly #agent: UpstreamAgent;
  readonly #closing = new AbortController();
  readonly #hosts = new Map<string, InterceptedHost>();

  constructor(deps: InterceptorDeps) {
    const { dialTls } = deps;
    this.#deps = deps;
    this.#agent = new UpstreamAgent(async (target, signal) => dialTls(target, ["http/1.1"], signal));
  }

  /** Serves a connection that was asked for a target, and whose first bytes are still in it. */
  async serve(client: Socket, target: Target, hello: Buffer, isRefused: boolean): Promise<void> {
    const name = formatTarget(target);
    const host = this.#hosts.get(name) ?? this.#create(target);
    this.#hosts.delete(name);
    this.#hosts.set(name, host);
    const [oldest] = this.#hosts;
    if (oldest !== undefined && this.#hosts.size > this.#deps.context.limits.maxReadHosts) {
      this.#hosts.delete(oldest[0]);
      oldest[1].rest();
    }
    await host.serve(client, hello, isRefused);
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
    this.#agent.destroy();
    for (const host of this.#hosts.values()) host[Symbol.dispose]();
  }

  #create(target: Target): InterceptedHost {
    const { context, authority, plainAgent, dialTls } = this.#deps;
    const agent = this.#agent;
    return new InterceptedHost({
      context,
      authority,
      origin: { target, isSecure: true, agent },
      plainOrigin: { target, isSecure: false, agent: plainAgent },
      upstream: new Http2Upstream({
        target,
        agent,
        open: async (protocols) => dialTls(target, protocols, this.#closing.signal),
      }),
    });
  }
}
