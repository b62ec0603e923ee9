import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { onceUnlessRejected } from "@convoke/protocol/once-unless-rejected";
import type { EgressListenerMessage, EgressListenerOrder } from "./listen-for-egress.ts";

/** Where programs inside of a wall find the proxy. */
export const egressPort = 3_128;

export type EgressListenerOptions = {
  /** The Unix socket that the server made: the only way out. */
  readonly socketPath: string;
  /** Of 127.0.0.1; 0 for any free one. */
  readonly port?: number;
  readonly onWarning: (text: string) => void;
};

export type EgressListener = AsyncDisposable & { readonly port: number };

/**
 * Listens inside of a wall and copies bytes to the server's socket, on a thread of its own. It knows no policy, so that who takes it
 * over gains nothing. Rejects when the port is taken.
 */
export async function openEgressListener(options: EgressListenerOptions): Promise<EgressListener> {
  const order: EgressListenerOrder = { socketPath: options.socketPath, port: options.port ?? egressPort };
  const worker = new Worker(new URL("./egress-listener-worker.ts", import.meta.url), {
    workerData: order,
    env: {},
  });
  const failed = Promise.withResolvers<never>();
  // After the start it only warns.
  failed.promise.catch(() => {});
  worker.on("error", (error) => {
    options.onWarning(`The proxy's listener failed: ${(error as Error).message}`);
    failed.reject(error);
  });
  const [message] = (await Promise.race([once(worker, "message"), failed.promise])) as [
    EgressListenerMessage,
  ];
  if (message.kind !== "listening") {
    await worker.terminate();
    throw new Error(`The proxy cannot listen on 127.0.0.1:${order.port}: ${message.reason}`);
  }
  worker.on("message", (later: EgressListenerMessage) => {
    if (later.kind !== "listening")
      options.onWarning(`The proxy's listener did not accept a connection: ${later.reason}`);
  });
  worker.unref();
  return {
    port: message.port,
    [Symbol.asyncDispose]: onceUnlessRejected(async () => void (await worker.terminate())),
  };
}
