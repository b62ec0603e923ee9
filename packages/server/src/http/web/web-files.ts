import { buffer } from "node:stream/consumers";
import { negotiate } from "@fastify/accept-negotiator";
import send, { type FileSendResult } from "@fastify/send";
import type { FastifyReply, FastifyRequest } from "fastify";
import { varyBy } from "../vary-by.ts";
import { contentTag, isKnownTag } from "./content-tag.ts";
import { hashedPaths } from "./hashed-paths.ts";

/** By the requested name. */
const encodings = new Map([
  ["br", ".br"],
  ["gzip", ".gz"],
]);

type WantedFile = {
  readonly directory: string;
  /** Below the directory, as in the request's URL. */
  readonly path: string;
  /** Besides those of the file itself. */
  readonly headers: Readonly<Record<string, string>>;
};

/** Undefined when the file does not exist. */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { directory, path, headers }: WantedFile,
): Promise<FastifyReply | undefined> {
  const isHashed = hashedPaths.test(path);
  const { found, encoding } = await findFile(request, directory, path, isHashed);
  if (found === null) return undefined;
  reply.headers({
    ...headers,
    ...found.headers,
    "content-type": contentTypeOf(path),
    "cache-control": isHashed ? "public, max-age=31536000, immutable" : "no-cache",
    ...(encoding === null ? {} : { "content-encoding": encoding }),
  });
  varyBy(reply, "Accept-Encoding");
  if (isHashed || request.method === "HEAD") return reply.status(found.statusCode).send(found.stream);
  const content = await buffer(found.stream);
  const etag = contentTag(content);
  if (!isKnownTag(request.headers["if-none-match"], etag)) return reply.headers({ etag }).send(content);
  return reply.removeHeader("content-length").headers({ etag }).status(304).send();
}

type Found = { readonly found: FileSendResult | null; readonly encoding: string | null };

/** The smallest built encoding that the client accepts. Its size and time of change are its tag where the name has a hash. */
async function findFile(
  { raw, headers }: FastifyRequest,
  root: string,
  path: string,
  isHashed: boolean,
): Promise<Found> {
  const options = {
    root,
    index: false,
    dotfiles: "deny",
    acceptRanges: false,
    cacheControl: false,
    etag: isHashed,
    lastModified: isHashed,
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
