import { request as requestPlainly } from "node:http";
import { request as requestSecurely } from "node:https";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { Way } from "../../cluster/peers.ts";

/** The answer of a node that did not open a tunnel. */
export type Refusal = { readonly status: number; readonly body: string };

export const tunnelProtocol = "convoke-bytes";

const handshakeMs = 10_000;

/**
 * Opens a byte stream through another node. Rejects when the node is unreachable; resolves with its answer when it
 * refuses.
 */
export async function openTunnel({ target, headers }: Way): Promise<Socket | Refusal> {
  const send = target.protocol === "https:" ? requestSecurely : requestPlainly;
  const opened = Promise.withResolvers<Socket | Refusal>();
  const request = send(target, {
    agent: false,
    headers: { ...headers, connection: "Upgrade", upgrade: tunnelProtocol },
  });
  const late = setTimeout(() => request.destroy(new Error("no answer in time")), handshakeMs);
  request.once("upgrade", (_answer, socket: Socket, head) => {
    if (head.length > 0) socket.unshift(head);
    socket.setTimeout(0);
    opened.resolve(socket);
  });
  request.once("response", (answer) => opened.resolve(refusalOf(answer)));
  request.once("error", opened.reject);
  request.end();
  try {
    return await opened.promise;
  } finally {
    clearTimeout(late);
  }
}

async function refusalOf(answer: IncomingMessage): Promise<Refusal> {
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}
