import type { FastifyReply, FastifyRequest } from "fastify";

/** A page without an origin asks before every request that is not simple. */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

/** For addresses that are keys themselves. */
export function allowPreflight({ headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const asked = headers["access-control-request-headers"];
  return reply
    .status(204)
    .headers({
      "access-control-allow-origin": headers.origin ?? "*",
      "access-control-allow-methods": headers["access-control-request-method"],
      ...(asked === undefined ? {} : { "access-control-allow-headers": asked }),
      vary: "Origin",
    })
    .send();
}
