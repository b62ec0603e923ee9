import { once } from "node:events";
import { WebSocket } from "ws";
import type { Caller } from "../../../security/caller.ts";
import type { Peers } from "../../../cluster/peers.ts";
import { closeCodes } from "./close-codes.ts";
import { untilRoom } from "./person-socket.ts";
import type { SocketFrames } from "./socket-frames.ts";
import type { SocketOutput } from "./socket-output.ts";

export type RelayedSocket = {
  readonly socket: WebSocket;
  readonly frames: SocketFrames;
  readonly output: SocketOutput;
  readonly caller: Caller;
  /** Path and query at which the other server has the same socket. */
  readonly path: string;
};

/** What is on its way to the client before the other server has to wait. */
const maxUnsentBytes = 64_000;
const handshakeMs = 10_000;

/**
 * Connects a client with the server that works on the conversation, until either of them goes. Null when that server does not work on it
 * any more, or is gone: then nothing was taken from the client.
 */
export async function relaySocket(
  peers: Pick<Peers, "findWay" | "untilGone">,
  nodeId: string,
  relayed: RelayedSocket,
): Promise<true | null> {
  const { socket, output, caller, path } = relayed;
  const way = await peers.findWay(nodeId, "GET", path, caller);
  if (way === null || output.closed.aborted) return output.closed.aborted ? true : null;
  const { target, headers } = way;
  target.protocol = target.protocol === "https:" ? "wss:" : "ws:";
  const owner = new WebSocket(target, { headers, perMessageDeflate: false, handshakeTimeout: handshakeMs });
  using gone = peers.untilGone(nodeId);
  const leave = (): void => owner.terminate();
  for (const signal of [gone.signal, output.closed]) signal.addEventListener("abort", leave);
  // Whoever is told too late that it opened would miss what it sends first.
  owner.on("message", (data: Buffer) => {
    socket.send(data.toString("utf8"));
    if (socket.bufferedAmount <= maxUnsentBytes) return;
    owner.pause();
    void untilRoom(socket, output, maxUnsentBytes).then(() => owner.resume());
  });
  const ended = Promise.withResolvers<{ readonly code: number; readonly reason: string }>();
  owner.on("close", (code, reason) => ended.resolve({ code, reason: reason.toString("utf8") }));
  // It closes after that.
  owner.on("error", () => {});
  const isOpen = await Promise.race([once(owner, "open").then(() => true), ended.promise.then(() => false)]);
  if (!isOpen) return output.closed.aborted ? true : null;
  void sendInputs(owner, relayed.frames);
  const { code, reason } = await ended.promise;
  output.closed.removeEventListener("abort", leave);
  if (isSendable(code)) socket.close(code, reason);
  else socket.close(closeCodes.tryAgainLater, "The server that works on this conversation has gone");
  return true;
}

/** Until the client or the other server goes. */
async function sendInputs(owner: WebSocket, frames: SocketFrames): Promise<void> {
  for (let frame = await frames.next(); frame !== null; frame = await frames.next()) {
    if (owner.readyState !== WebSocket.OPEN) return;
    const { text } = frame;
    await new Promise<void>((resolve) => {
      owner.send(text ?? new Uint8Array(), () => resolve());
    });
  }
}

/** Codes of a server that closed on purpose; the others stand for a connection that broke. */
function isSendable(code: number): boolean {
  return code >= 1000 && code !== 1005 && code !== 1006;
}
