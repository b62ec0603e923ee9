import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readIfThere } from "../../lib/read-if-there.ts";
import { varyBy } from "../vary-by.ts";
import { contentTag, isKnownTag } from "./content-tag.ts";
import { hashedPaths } from "./hashed-paths.ts";
import { prefersHtml } from "./prefers-html.ts";
import { webHeaders } from "./web-headers.ts";

/** Prefixes of API routes: unknown paths below them are answered in JSON for every client. */
const programPaths = /^\/(api|v1|sockets|sandboxes)(\/|$)/;

/**
 * Serves the built page in `webDir` where no route is: its files, the page at `/` for clients that prefer HTML, and the
 * page at every address that its router may use. An empty or missing folder serves nothing.
 */
export function mountWebPages(app: FastifyInstance, webDir: string): void {
  app.addHook("onRequest", async (request, reply) => {
    if (request.ws || (request.method !== "GET" && request.method !== "HEAD")) return;
    const path = request.url.split("?", 1)[0]!;
    if (path === "/") {
      varyBy(reply, "Accept");
      if (prefersHtml(request.headers)) return await sendPage(request, reply, webDir);
      return;
    }
    const isRoute = !request.is404 && request.routeOptions.url !== "*";
    if (isRoute || programPaths.test(path)) return;
    if (path !== "/index.html") {
      const { sendFile } = await import("./web-files.ts");
      const sent = await sendFile(request, reply, { directory: webDir, path, headers: webHeaders });
      if (sent !== undefined) return sent;
    }
    if (!hashedPaths.test(path) && prefersHtml(request.headers))
      return await sendPage(request, reply, webDir);
    return;
  });
}

/** Undefined without a page. It is read for each request, so that a new build is served at once. */
async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  webDir: string,
): Promise<FastifyReply | undefined> {
  const html = await readIfThere(join(webDir, "index.html"));
  if (html === null) return undefined;
  const page = withBase(html, new URL(request.publicAddress).pathname);
  const etag = contentTag(page);
  reply.headers({ ...webHeaders, "cache-control": "no-cache", etag });
  if (isKnownTag(request.headers["if-none-match"], etag)) return reply.status(304).send();
  return reply.type("text/html; charset=utf-8").send(page);
}

/** The page refers to its files by relative URLs, because a proxy may add a prefix. */
function withBase(html: string, path: string): string {
  const href = `${path.replace(/\/$/, "")}/`.replaceAll("&", "&amp;");
  const element = `<base href="${href}" />`;
  const plain = html.replace(/<base\b[^>]*>\s*/i, "");
  return plain.replace(/<head\b[^>]*>/i, (head) => `${head}${element}`);
}
