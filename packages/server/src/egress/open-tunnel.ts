import type { Socket } from "node:net";
import type { Dial } from "./addresses/dial.ts";
import type { ForwardContext } from "./forward/forward-context.ts";
import type { FrontDeps, TunnelAnswer } from "./front/front.ts";
import { isTls, isWholeHello, peek } from "./intercept/first-bytes.ts";
import type { Interceptor } from "./intercept/interceptor.ts";
import type { Target } from "../lib/host-name.ts";
import { type Allowed, decide, decideUnread } from "./records/decide.ts";
import { answerTo, Refused, refuseByPolicy } from "./records/refusal.ts";

export type TunnelOpenerDeps = {
  readonly context: ForwardContext;
  readonly dial: Dial;
  readonly interceptor: Interceptor;
};

/** Ports of HTTPS: a refusal of these is told inside of TLS, because programs do not show the answer to `CONNECT`. */
const securePorts = new Set([443, 8443]);

/** What happens to a connection that a client asked for: it is refused, read, or copied. */
export function createTunnelOpener({ context, dial, interceptor }: TunnelOpenerDeps): FrontDeps["onTunnel"] {
  const { policy, ledger, tunnels, connections, limits } = context;

  /** Reads what the client sends first, once it believes to be connected. */
  async function intercept(
    client: Socket,
    target: Target,
    isReadOnly: boolean,
  ): Promise<"served" | "not HTTP"> {
    const hello = await peek(client, limits.headMs, isWholeHello);
    if (hello === null) return "served";
    // A secret is put in over TLS only, so that anything else passes as it is.
    if (!isTls(hello) && !isReadOnly) return "not HTTP";
    connections.add(client, () => decide(policy, target));
    await interceptor.serve(client, target, hello, false);
    return "served";
  }

  async function refuse(
    client: Socket,
    target: Target,
    answer: TunnelAnswer,
    refused: Refused,
  ): Promise<void> {
    ledger.refuse(refused);
    if (!securePorts.has(target.port)) return answer.refuse(403, refused.message);
    answer.accept();
    const hello = await peek(client, limits.headMs, isWholeHello);
    if (hello !== null) await interceptor.serve(client, target, hello, true);
  }

  async function copy(client: Socket, target: Target, onOpen: () => void): Promise<void> {
    const clientGone = new AbortController();
    client.once("close", () => clientGone.abort());
    const upstream = await dial(target, clientGone.signal);
    if (client.destroyed) return void upstream.destroy();
    const check = (): Allowed => decideUnread(policy, target);
    try {
      // The policies may have changed meanwhile.
      const { rule } = check();
      ledger.begin(target);
      onOpen();
      tunnels.join(client, upstream, { target, rule, path: null, secrets: [], check });
    } catch (error) {
      upstream.destroy();
      throw error;
    }
  }

  return async (client, target, answer) => {
    const verdict = policy.decide(target);
    if (!verdict.isAllowed) return refuse(client, target, answer, refuseByPolicy(target, verdict));
    let isAccepted = false;
    try {
      if (verdict.isReadOnly || context.secretsFor(target).length > 0) {
        isAccepted = true;
        answer.accept();
        if ((await intercept(client, target, verdict.isReadOnly)) === "served") return;
      }
      await copy(client, target, () => void (isAccepted || answer.accept()));
    } catch (error) {
      context.report(error, "a tunnel could not be opened");
      if (error instanceof Refused) ledger.refuse(error);
      const { status, sentence } = answerTo(error);
      if (isAccepted) client.destroy();
      else answer.refuse(status, sentence);
    }
  };
}
