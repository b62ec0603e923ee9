import type { IncomingMessage } from "node:http";
import { errorCodes, type FastifyInstance, type FastifyRequest } from "fastify";
import { bodyTooLarge } from "./errors.ts";
import { parseJsonBody } from "./parse-json-body.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** True for routes without a body: any body is dropped. */
    readonly ignoresBody?: boolean;
  }
}

/** JSON is the only body that is read; an empty one is none, because many clients announce a type on every request. */
export function readBodies(app: FastifyInstance): void {
  // Clients of this wire send a list of ids as the body of a GET.
  app.addHttpMethod("GET", { hasBody: true, overrideExisting: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (_request: FastifyRequest, body: string | Buffer) =>
      body.length === 0 ? undefined : parseJsonBody(Buffer.from(body)),
  );
  app.addContentTypeParser("*", async (request: FastifyRequest, payload: IncomingMessage) => {
    const { config, bodyLimit } = request.routeOptions;
    if (config.ignoresBody !== true) {
      if (!(await endsWithin(payload, 0))) throw new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE();
    } else if (isAnnouncedLarger(payload, bodyLimit) || !(await endsWithin(payload, bodyLimit))) {
      throw bodyTooLarge(bodyLimit);
    }
  });
  app.addHook("onRequest", (request, _reply, done) => {
    // Without a type the body is not read.
    if (request.routeOptions.config.ignoresBody === true) delete request.raw.headers["content-type"];
    done();
  });
}

function isAnnouncedLarger({ headers }: IncomingMessage, limitBytes: number): boolean {
  return Number(headers["content-length"] ?? 0) > limitBytes;
}

/** Drops a body. False as soon as it has more bytes, and when its sender disconnects. */
async function endsWithin(payload: IncomingMessage, maxBytes: number): Promise<boolean> {
  let bytes = 0;
  return await new Promise((resolve) => {
    payload.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) resolve(false);
    });
    payload.once("end", () => resolve(true));
    for (const end of ["close", "error"] as const) payload.once(end, () => resolve(false));
  });
}
