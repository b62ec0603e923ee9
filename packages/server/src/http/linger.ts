import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** So much of a body that nobody wants is read to keep its connection. */
const ringBytes = 64 * 1024;

/** How long a client may go on sending what nobody reads: one with a key, and a stranger. */
const lingerMs = { caller: 10_000, stranger: 2_000 };

/**
 * An answer that comes before the whole request ends its connection. Closed at once it would be reset, and with it the answer
 * would be lost for a client that still sends; so for a moment the rest is taken and dropped.
 */
export function lingerAfterEarlyAnswers(app: FastifyInstance): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    if (!request.ws && isMuchUnread(request.raw)) {
      reply.header("connection", "close");
      const maxMs = request.caller === null ? lingerMs.stranger : lingerMs.caller;
      const { socket } = request.raw;
      // What Node calls when such an answer is out.
      socket.destroySoon = () => linger(socket, maxMs);
    }
    done(null, payload);
  });
}

function isMuchUnread({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > ringBytes;
}

function linger(socket: Socket, maxMs: number): void {
  Reflect.deleteProperty(socket, "destroySoon");
  // In place of the parser of requests: nothing that comes now is one.
  socket.removeAllListeners("data").on("data", () => {});
  socket.end();
  socket.resume();
  const deadline = setTimeout(() => socket.destroy(), maxMs);
  socket.once("end", () => socket.destroy()).once("close", () => clearTimeout(deadline));
}
