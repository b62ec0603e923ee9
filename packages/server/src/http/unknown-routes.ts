import type { FastifyInstance } from "fastify";
import { Fault } from "../lib/fault.ts";

type Known = { readonly pattern: RegExp; readonly methods: Set<string> };

/** 404 for unknown paths, 405 with `Allow` for known paths with another method; before the body is read. */
export function refuseUnknownRoutes(app: FastifyInstance): void {
  const known = new Map<string, Known>();
  app.addHook("onRoute", ({ url, method }) => {
    if (url === "*") return;
    const route = known.get(url) ?? { pattern: toPattern(url), methods: new Set() };
    for (const name of [method].flat()) route.methods.add(name);
    known.set(url, route);
  });
  app.addHook("onRequest", (request, reply, done) => {
    // An OPTIONS request here is no preflight: those are answered earlier.
    if (!request.is404 && request.routeOptions.url !== "*") {
      done();
      return;
    }
    const path = request.url.split("?", 1)[0]!;
    const methods = [...known.values()]
      .filter(({ pattern }) => pattern.test(path))
      .flatMap((route) => [...route.methods]);
    if (methods.length === 0) throw new Fault("missing", "not_found", refusalOf(path) ?? "Not Found");
    reply.header("allow", [...new Set(methods)].sort().join(", "));
    throw new Fault("wrong-method", "method_not_allowed", "Method Not Allowed");
  });
}

/** Operations that official clients call and this version lacks; status and code are those of an unknown path. */
const refused: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  {
    pattern: /^\/(?:api\/canvas-extensions\/installed\/[^/]+\/backend|app-backends\/[^/]+\/session)(?:\/|$)/,
    reason:
      "This server starts no backends of canvas extensions: they would be programs of others with the rights of the server. " +
      "The pages of an extension work without one.",
  },
];

function refusalOf(path: string): string | null {
  return refused.find(({ pattern }) => pattern.test(path))?.reason ?? null;
}

/** `/a/:b` or `/a/*` as a pattern of paths, with or without a slash at the end. */
function toPattern(url: string): RegExp {
  const parts = url.split("/").map((part) => {
    if (part === "*") return ".*";
    return part.startsWith(":") ? "[^/]+" : part.replaceAll(/[^\w-]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("/").replace(/\/$/, "")}/?$`);
}
