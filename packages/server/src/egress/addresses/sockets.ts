import { connect, type Socket, type TcpNetConnectOpts } from "node:net";
import type { Target } from "../../lib/host-name.ts";
import { Unreachable } from "../records/refusal.ts";
import { orAborted } from "../../lib/or-aborted.ts";

/** Of every socket on the way: with Node's 64 KiB a tunnel takes a third more processor time for each byte. */
export const socketBufferBytes = 512 * 1024;

export function connectTcp(options: TcpNetConnectOpts): Socket {
  return connect({ ...options, ...buffered });
}

/** Each side ends for itself, and Node's types do not know the size. */
export const buffered = { allowHalfOpen: true, highWaterMark: socketBufferBytes };

export type ConnectWait = {
  readonly target: Target;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** Resolves with the socket once it is connected. Rejects with {@link Unreachable} or the signal's reason otherwise, and destroys it. */
export async function whenConnected<S extends Socket>(
  socket: S,
  { target, timeoutMs, signal }: ConnectWait,
  event: "connect" | "secureConnect" = "connect",
): Promise<S> {
  const { promise, resolve, reject } = Promise.withResolvers<S>();
  const timer = setTimeout(
    () => reject(new Unreachable(target, 504, "It did not answer in time.")),
    timeoutMs,
  );
  const onConnect = (): void => resolve(socket);
  const onError = (error: Error): void =>
    reject(new Unreachable(target, 502, describe(error, event === "secureConnect"), { cause: error }));
  const onClose = (): void => reject(new Unreachable(target, 502, "It ended the connection at once."));
  socket.once(event, onConnect).once("error", onError).once("close", onClose);
  // After this, an error is the reason of a close, and everything that uses the socket waits for that.
  socket.on("error", () => {});
  try {
    return await orAborted(promise, signal);
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    socket.off(event, onConnect).off("error", onError).off("close", onClose);
  }
}

function describe(error: Error, isTls: boolean): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED") return "It refused the connection.";
  if (code === "ENETUNREACH" || code === "EHOSTUNREACH") return "There is no route to it.";
  if (code === "ETIMEDOUT") return "It did not answer in time.";
  // OpenSSL's own words about a certificate are fit for people.
  return isTls ? `Its TLS failed (${error.message}).` : `The connection failed (${code ?? "no code"}).`;
}
