import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";

/** Cuts connections of this process to other machines, and records them. */
export function watchNetwork(): Disposable & { readonly outward: readonly string[] } {
  const outward: string[] = [];
  const watch = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    socket.on("connectionAttempt", (address: string, port?: number) => {
      if (port === undefined || /^(127\.|::1$|::ffff:127\.)/.test(address)) return;
      outward.push(`${address}:${port}`);
      // Not at once: the socket is about to be used.
      process.nextTick(() => socket.destroy());
    });
  };
  subscribe("net.client.socket", watch);
  return {
    outward,
    [Symbol.dispose]: () => {
      unsubscribe("net.client.socket", watch);
    },
  };
}
