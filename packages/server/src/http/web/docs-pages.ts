import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault } from "../../lib/fault.ts";
import { readIfThere } from "../../lib/read-if-there.ts";
import { varyBy } from "../vary-by.ts";
import { prefersHtml } from "./prefers-html.ts";
import { webHeaders } from "./web-headers.ts";

/** Of the whole site; the build computes it, because the pages have inline scripts. */
const policyFile = "content-security-policy.txt";

const notHere =
  "The documentation is not on this server: it was not built into it, or CONVOKE_DOCS=off. It is the folder docs of the repository. /docs lists the routes.";
const notBelowPrefix =
  "The documentation is served at the root of an address only, and this server is reached below a path. It is the folder docs of the repository.";

/** Serves the built documentation in `docsDir` at `/docs/`; null, like a missing folder, answers there that there is none. */
export function mountDocsPages(app: FastifyInstance, docsDir: string | null): void {
  app.addHook("onRequest", async (request, reply) => {
    if (request.ws || (request.method !== "GET" && request.method !== "HEAD")) return;
    const [path = ""] = request.url.split("?", 1);
    if (!path.startsWith("/docs/")) return;
    const policy = docsDir === null ? null : await readIfThere(join(docsDir, policyFile));
    if (docsDir === null || policy === null) return refuse(request, reply, notHere);
    // Pages name their files by absolute paths.
    if (new URL(request.publicAddress).pathname !== "/") return refuse(request, reply, notBelowPrefix);
    const { sendFile } = await import("./web-files.ts");
    const headers = { ...webHeaders, "content-security-policy": policy };
    const file = path.slice("/docs".length).replace(/\/$/, "/index.html");
    const sent = await sendFile(request, reply, { directory: docsDir, path: file, headers });
    if (sent !== undefined || !prefersHtml(request.headers)) return sent;
    reply.headers({ ...headers, "cache-control": "no-cache" });
    return reply
      .status(404)
      .type("text/html; charset=utf-8")
      .send(await readIfThere(join(docsDir, "404.html")));
  });
}

/** A sentence for people, and the usual error for programs. */
function refuse(request: FastifyRequest, reply: FastifyReply, reason: string): FastifyReply {
  varyBy(reply, "Accept");
  if (!prefersHtml(request.headers)) throw new Fault("missing", "not_found", reason);
  return reply.status(404).type("text/plain; charset=utf-8").send(`${reason}\n`);
}
