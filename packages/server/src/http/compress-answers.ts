import { callbackify, promisify } from "node:util";
import { gzip } from "node:zlib";
import { negotiate } from "@fastify/accept-negotiator";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isLoopback } from "./guard.ts";
import { varyBy } from "./vary-by.ts";

/** Below that the saving is not worth its time. */
const leastLength = 8 * 1024;

/**
 * Answers of logs and catalogues, which hold no secrets: the length of a compressed answer reveals something about its
 * contents.
 */
const packed = /^\/(api\/(conversations|glances|llm|search|skills|start|tools)(\/|\?|$)|openapi\.json)/;

const compress = promisify(gzip);

/** Compresses long JSON for remote clients that accept it; on this machine compressing costs more than sending. */
export function compressAnswers(app: FastifyInstance): void {
  /** A cached page is compressed once, and the result is cached with it. */
  const packedPages = new WeakMap<Uint8Array, Promise<Buffer>>();
  const packPage = (page: Buffer): Promise<Buffer> => {
    const packing = packedPages.get(page) ?? pack(page);
    packedPages.set(page, packing);
    packing.catch(() => packedPages.delete(page));
    return packing;
  };
  app.addHook("onSend", (request, reply, payload, done) => {
    const isText = typeof payload === "string";
    const isLong = (isText || payload instanceof Buffer) && payload.length >= leastLength;
    if (!isLong || !isPacked(request, reply)) {
      done(null, payload);
      return;
    }
    reply.header("content-encoding", "gzip");
    varyBy(reply, "Accept-Encoding");
    callbackify(() => (isText ? pack(payload) : packPage(payload)))(done);
  });
}

/** Runs in another thread, at a fast level: the next one takes twice the time for a tenth less. */
function pack(payload: string | Buffer): Promise<Buffer> {
  return compress(payload, { level: 1 });
}

function isPacked(request: FastifyRequest, reply: FastifyReply): boolean {
  const wanted = request.headers["accept-encoding"]?.toString() ?? "";
  if (wanted === "" || request.method === "HEAD" || !packed.test(request.url)) return false;
  if (isNear(request.socket.remoteAddress ?? "") || reply.hasHeader("content-encoding")) return false;
  if (!String(reply.getHeader("content-type")).startsWith("application/json")) return false;
  return negotiate(wanted, ["gzip"]) === "gzip";
}

/** True for clients on this machine. */
export function isNear(address: string): boolean {
  return isLoopback(address.replace(/^::ffff:/, ""));
}
