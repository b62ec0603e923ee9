import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { expect } from "vitest";
import type { BoundSecret, EgressLimits } from "../egress.ts";
import { type EgressWorld, openEgressWorld } from "./egress-world.ts";

/** Bound to api.example.com, in headers and bodies. */
export const token: BoundSecret = {
  name: "TOKEN",
  placeholder: "cvk_TOKEN_0123456789abcdefghijklmn",
  value: "s3cret-Value+with/odd=chars",
  hosts: ["api.example.com"],
  as: ["header", "basic", "body"],
};

export type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** An egress with the token in front of api.example.com, which speaks HTTP/2. */
export async function openHttp2World(
  onStream: OnStream,
  limits: Partial<EgressLimits> = {},
): Promise<EgressWorld & { server: Http2SecureServer }> {
  const world = await openEgressWorld({ secrets: () => [token], limits });
  const server = createSecureServer({
    ...world.leaf("api.example.com"),
    allowHTTP1: true,
    strictSingleValueFields: false,
  });
  server.on("stream", onStream);
  await world.place("api.example.com", 443, server);
  return { ...world, server };
}

/** A session to api.example.com through the proxy. */
export async function openHttp2Session(world: EgressWorld): Promise<ClientHttp2Session & Disposable> {
  const socket = await world.secure("api.example.com:443", ["h2", "http/1.1"]);
  expect(socket.alpnProtocol).toBe("h2");
  const session = connect("https://api.example.com", { createConnection: () => socket });
  session.on("error", () => {});
  return Object.assign(session, { [Symbol.dispose]: () => session.destroy() });
}

/** One request to its end. */
export async function exchangeHttp2(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<{ headers: IncomingHttpHeaders; body: string; trailers: IncomingHttpHeaders }> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return readHttp2Answer(stream);
}

/** The answer to its end. */
export async function readHttp2Answer(stream: ClientHttp2Stream) {
  let trailers: IncomingHttpHeaders = {};
  stream.on("trailers", (given) => (trailers = given));
  const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
  const text = Buffer.concat(await stream.toArray()).toString();
  return { headers, body: text, trailers };
}

/** Answers with the host that it was asked for, the header X-A and the body. */
export const echo: OnStream = (stream, headers) => {
  stream.respond({
    ":status": 200,
    "content-type": "application/json",
    "x-host": headers[":authority"] ?? "",
  });
  if (headers["x-a"] !== undefined) stream.write(String(headers["x-a"]));
  stream.pipe(stream);
};
