import type { FastifyReply, FastifyRequest } from "fastify";
import type { Route } from "@convoke/protocol";

/**
 * The redirect target of a request for `/a/b/` whose route is `/a/b`: relative to the request's URL, so that origin and
 * prefix stay the same. Null when no redirect is needed.
 */
export function placeWithoutSlash(url: string): string | null {
  const start = url.indexOf("?");
  const path = start === -1 ? url : url.slice(0, start);
  const segment = /^\/(?:[^/]+\/)*([^/]+)\/$/.exec(path)?.[1];
  if (segment === undefined) return null;
  return `../${segment}${start === -1 ? "" : url.slice(start)}`;
}

/** True for routes with a trailing slash, or with files below them: there the slash is significant. */
export function hasSlashes(route: Route, others: readonly Route[]): boolean {
  const { path, method, restParameter } = route;
  if (path.endsWith("/") || restParameter !== undefined) return true;
  return others.some(
    (other) =>
      other.method === method && other.restParameter !== undefined && other.path.startsWith(`${path}/{`),
  );
}

/** Redirects a request with its method and body; false when no redirect is needed. */
export function sendToPlace(request: FastifyRequest, reply: FastifyReply): boolean {
  // WebSocket clients do not follow redirects.
  const place = request.ws ? null : placeWithoutSlash(request.url);
  if (place === null) return false;
  void reply.status(307).header("location", place).send();
  return true;
}
