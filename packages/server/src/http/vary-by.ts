import type { FastifyReply } from "fastify";

/** Adds a header to `Vary`, beside those that are already in it. */
export function varyBy(reply: FastifyReply, name: string): void {
  const named = reply.getHeader("vary");
  reply.header("vary", named === undefined ? name : `${String(named)}, ${name}`);
}
