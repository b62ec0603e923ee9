import { createHash } from "node:crypto";
import { join } from "node:path";
import { negotiate } from "@fastify/accept-negotiator";
import send, { type FileSendResult } from "@fastify/send";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readIfThere } from "../../lib/read-if-there.ts";
import { varyBy } from "../vary-by.ts";
import { prefersHtml } from "./prefers-html.ts";
import { webHeaders } from "./web-headers.ts";

/** Below these are programs' routes: what is not there is told in JSON, whoever asks. */
const programPaths = /^\/(api|v1|sockets|sandboxes)(\/|$)/;

/** Their names change with what is in them. */
const hashedPaths = /^\/assets\//;

/** By the name that a client gives it. */
const encodings = new Map([
  ["br", ".br"],
  ["gzip", ".gz"],
]);

/**
 * Serves the built page in `webDir` where no route is: its files, the page itself at `/` for who would rather have a page than JSON, and
 * the page at every other address that it may have made itself. A folder that is empty or missing serves nothing.
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
      const sent = await sendFile(request, reply, webDir, path);
      if (sent !== undefined) return sent;
    }
    if (!hashedPaths.test(path) && prefersHtml(request.headers))
      return await sendPage(request, reply, webDir);
    return;
  });
}

/** Undefined where there is no page. It is read for each request, so that a page that was built anew is served at once. */
async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  webDir: string,
): Promise<FastifyReply | undefined> {
  const html = await readIfThere(join(webDir, "index.html"));
  if (html === null) return undefined;
  const page = withBase(html, new URL(request.publicAddress).pathname);
  const etag = `"${createHash("sha256").update(page).digest("base64url").slice(0, 27)}"`;
  reply.headers({ ...webHeaders, "cache-control": "no-cache", etag });
  if (request.headers["if-none-match"]?.includes(etag) === true) return reply.status(304).send();
  return reply.type("text/html; charset=utf-8").send(page);
}

/** The page names its files relative to where it was reached, which a proxy may have moved below a prefix. */
function withBase(html: string, path: string): string {
  const href = `${path.replace(/\/$/, "")}/`.replaceAll("&", "&amp;");
  const element = `<base href="${href}" />`;
  const plain = html.replace(/<base\b[^>]*>\s*/i, "");
  return plain.replace(/<head\b[^>]*>/i, (head) => `${head}${element}`);
}

/** Undefined where there is no such file. */
async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  webDir: string,
  path: string,
): Promise<FastifyReply | undefined> {
  const { found, encoding } = await findFile(request, webDir, path);
  if (found === null) return undefined;
  const isHashed = hashedPaths.test(path);
  reply.headers({
    ...webHeaders,
    ...found.headers,
    "content-type": contentTypeOf(path),
    "cache-control": isHashed ? "public, max-age=31536000, immutable" : "no-cache",
    ...(encoding === null ? {} : { "content-encoding": encoding }),
  });
  varyBy(reply, "Accept-Encoding");
  return reply.status(found.statusCode).send(found.stream);
}

type Found = { readonly found: FileSendResult | null; readonly encoding: string | null };

/** The smallest form that the client reads and that was built. */
async function findFile({ raw, headers }: FastifyRequest, webDir: string, path: string): Promise<Found> {
  const options = {
    root: webDir,
    index: false,
    dotfiles: "deny",
    acceptRanges: false,
    cacheControl: false,
  } as const;
  let left = [...encodings.keys()];
  for (;;) {
    const encoding = negotiate(headers["accept-encoding"]?.toString() ?? "", left);
    const result = await send(raw, `${path}${encoding === null ? "" : encodings.get(encoding)}`, options);
    if (result.type === "file") return { found: result, encoding };
    if (encoding === null) return { found: null, encoding };
    left = left.filter((name) => name !== encoding);
  }
}

function contentTypeOf(path: string): string {
  const type = send.mime.getType(path) ?? "application/octet-stream";
  return send.isUtf8MimeType(type) ? `${type}; charset=utf-8` : type;
}
