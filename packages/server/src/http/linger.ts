import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** How much of an unwanted body is read to keep its connection open. */
const ringBytes = 64 * 1024;

/** How long a client may continue to send unread data: with a key, and without one. */
const lingerMs = { caller: 10_000, stranger: 2_000 };

/**
 * An answer before the end of the request ends the connection. An immediate close would reset it, and a client that
 * still sends would lose the answer; so the rest is read and dropped for a moment.
 */
export function lingerAfterEarlyAnswers(app: FastifyInstance): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    if (!request.ws && isMuchUnread(request.raw)) {
      reply.header("connection", "close");
      const maxMs = request.caller === null ? lingerMs.stranger : lingerMs.caller;
      const { socket } = request.raw;
      // The function that Node calls after such an answer.
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
  // Replaces the request parser: the remaining data is no request.
  socket.removeAllListeners("data").on("data", () => {});
  socket.end();
  socket.resume();
  const deadline = setTimeout(() => socket.destroy(), maxMs);
  socket.once("end", () => socket.destroy()).once("close", () => clearTimeout(deadline));
}
