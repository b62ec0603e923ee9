import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { negotiate } from "@fastify/accept-negotiator";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isLoopback } from "./guard.ts";
import { varyBy } from "./vary-by.ts";

/** Below that the saving is not worth its time. */
const leastLength = 8 * 1024;

/** What logs and catalogues answer. Nothing that can hold a secret is among them: how long a packed answer is tells about what is in it. */
const packed = /^\/(api\/(conversations|glances|llm|search|skills|start|tools)(\/|\?|$)|openapi\.json)/;

const compress = promisify(gzip);

/** Packs long JSON for clients across a network that can read it; on this machine the wire costs less than the packing. */
export function compressAnswers(app: FastifyInstance): void {
  /** A page that is kept is packed once, and that goes with it. */
  const packedPages = new WeakMap<Uint8Array, Promise<Buffer>>();
  const packPage = (page: Buffer): Promise<Buffer> => {
    const packing = packedPages.get(page) ?? pack(page);
    packedPages.set(page, packing);
    return packing;
  };
  app.addHook("onSend", async (request, reply, payload) => {
    if (typeof payload !== "string" && !(payload instanceof Buffer)) return payload;
    if (payload.length < leastLength || !isPacked(request, reply)) return payload;
    reply.header("content-encoding", "gzip");
    varyBy(reply, "Accept-Encoding");
    return await (typeof payload === "string" ? pack(payload) : packPage(payload));
  });
}

/** In a thread of its own, and quickly: the next step up costs twice the time for a tenth less. */
function pack(payload: string | Buffer): Promise<Buffer> {
  return compress(payload, { level: 1 });
}

function isPacked(request: FastifyRequest, reply: FastifyReply): boolean {
  if (request.method === "HEAD" || !packed.test(request.url) || reply.hasHeader("content-encoding"))
    return false;
  if (!String(reply.getHeader("content-type")).startsWith("application/json")) return false;
  if (isNear(request.socket.remoteAddress ?? "")) return false;
  return negotiate(request.headers["accept-encoding"]?.toString() ?? "", ["gzip"]) === "gzip";
}

function isNear(address: string): boolean {
  return isLoopback(address.replace(/^::ffff:/, ""));
}
