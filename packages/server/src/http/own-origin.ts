import type { FastifyRequest } from "fastify";

type Asked = Pick<FastifyRequest, "headers" | "publicAddress">;

/**
 * True when a page of this origin belongs to this server, as the browser reached it: scheme, name and port. When it is
 * unknown whether TLS is in front of the server, both schemes match.
 */
export function isOwnOrigin(origin: string, { headers, publicAddress }: Asked): boolean {
  const { origin: known, protocol, host: knownHost } = new URL(publicAddress);
  const host = headers.host?.toLowerCase() ?? "";
  const own = new Set([known]);
  if (host !== knownHost) own.add(`http://${host}`);
  if (host !== knownHost || protocol === "http:") own.add(`https://${host}`);
  return own.has(origin.toLowerCase());
}
