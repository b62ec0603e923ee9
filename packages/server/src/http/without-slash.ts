import type { FastifyReply, FastifyRequest } from "fastify";
import type { Route } from "@convoke/protocol";

/**
 * Where a request for `/a/b/` is sent whose route is `/a/b`: the same without the slash, from the request's own address on, so that it is the
 * same origin and below the same prefix whatever the address says. Null for one that is at its place.
 */
export function placeWithoutSlash(url: string): string | null {
  const start = url.indexOf("?");
  const path = start === -1 ? url : url.slice(0, start);
  const segment = /^\/(?:[^/]+\/)*([^/]+)\/$/.exec(path)?.[1];
  if (segment === undefined) return null;
  return `../${segment}${start === -1 ? "" : url.slice(start)}`;
}

/** True for routes that have a slash at their end, or below which there are files: there it belongs to the address. */
export function hasSlashes(route: Route, others: readonly Route[]): boolean {
  const { path, method, restParameter } = route;
  if (path.endsWith("/") || restParameter !== undefined) return true;
  return others.some(
    (other) =>
      other.method === method && other.restParameter !== undefined && other.path.startsWith(`${path}/{`),
  );
}

/** Sends a request to its place with its method and body; false when it is there. */
export function sendToPlace(request: FastifyRequest, reply: FastifyReply): boolean {
  // Sockets do not follow.
  const place = request.ws ? null : placeWithoutSlash(request.url);
  if (place === null) return false;
  void reply.status(307).header("location", place).send();
  return true;
}
