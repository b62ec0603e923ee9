import type { FastifyReply } from "fastify";

/** Says that the answer depends on this header too; others may have named theirs before. */
export function varyBy(reply: FastifyReply, name: string): void {
  const named = reply.getHeader("vary");
  reply.header("vary", named === undefined ? name : `${String(named)}, ${name}`);
}
