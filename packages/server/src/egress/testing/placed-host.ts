import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { BoundSecret, EgressOptions } from "../egress.ts";
import { type EgressWorld, openEgressWorld } from "./egress-world.ts";

/** Bound to api.example.com, in headers only. */
export const token: BoundSecret = {
  name: "TOKEN",
  placeholder: "cvk_TOKEN_0123456789abcdefghijklmn",
  value: "s3cret-Value+with/odd=chars",
  hosts: ["api.example.com"],
  as: ["header", "basic"],
};

export type Seen = { url: string; headers: IncomingMessage["headers"]; body: string };

/** A host with TLS that records requests, whole with their bodies, and answers with what `answer` writes. */
export async function placeHost(
  world: EgressWorld,
  host: string,
  answer: (seen: Seen, response: ServerResponse) => void = (_, response) => response.end("hello"),
): Promise<Seen[]> {
  const seen: Seen[] = [];
  const server = createServer(world.leaf(host), (incoming, response) => {
    void (async () => {
      const body = Buffer.concat(await incoming.toArray()).toString();
      const one = { url: incoming.url ?? "", headers: incoming.headers, body };
      seen.push(one);
      answer(one, response);
    })();
  });
  await world.place(host, 443, server);
  return seen;
}

/** An egress that knows the token, changed as said. */
export async function openWithSecret(
  secret: Partial<BoundSecret> = {},
  options: Partial<EgressOptions> = {},
): Promise<EgressWorld> {
  return openEgressWorld({ ...options, secrets: () => [{ ...token, ...secret }] });
}
