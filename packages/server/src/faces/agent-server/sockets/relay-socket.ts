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
  /** Path and query of the same socket at the other node. */
  readonly path: string;
};

/** The maximum of bytes unsent to the client before the other node is paused. */
const maxUnsentBytes = 64_000;
const handshakeMs = 10_000;

/**
 * Connects a client with the owner of the conversation until either disconnects. Null when that node is no longer the
 * owner or has ended: then no frame of the client was consumed.
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
  // Listeners are attached before it opens, so that the first frames are not missed.
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

/** Resolves when the client or the other node disconnects. */
async function sendInputs(owner: WebSocket, frames: SocketFrames): Promise<void> {
  for (let frame = await frames.next(); frame !== null; frame = await frames.next()) {
    if (owner.readyState !== WebSocket.OPEN) return;
    const { text } = frame;
    await new Promise<void>((resolve) => {
      owner.send(text ?? new Uint8Array(), () => resolve());
    });
  }
}

/** Close codes that a server sends on purpose; all others mean a broken connection. */
function isSendable(code: number): boolean {
  return code >= 1000 && code !== 1005 && code !== 1006;
}
