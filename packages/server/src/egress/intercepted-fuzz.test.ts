import fc from "fast-check";
import { createServer as createHttpsServer } from "node:https";
import { expect, test } from "vitest";
import type { BoundSecret } from "./egress.ts";
import { openEgressWorld } from "./testing/egress-world.ts";

const token: BoundSecret = {
  name: "TOKEN",
  placeholder: "cvk_TOKEN_0123456789abcdefghijklmn",
  value: "s3cret-Value+with/odd=chars",
  hosts: ["api.example.com"],
  as: ["header", "basic", "query", "body"],
};

/** By day a third of the cases; all with `CONVOKE_EVERY_CASE=1`. */
const nth = process.env["CONVOKE_EVERY_CASE"] === "1" ? 1 : 3;

const fragments =
  `GET |POST |/|?a=|https://evil.example/|*|${token.placeholder}| HTTP/1.1| HTTP/2.0|\r\n|\r\n\r\n|Host: x|
Authorization: Basic |Content-Length: 5|Content-Length: -1|Transfer-Encoding: chunked|Content-Type: application/json|
Upgrade: websocket\r\nConnection: upgrade|Expect: 100-continue|\u0000|PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n|0\r\n\r\n`.split(
    "|",
  );

test("whatever clients send inside of TLS, the proxy goes on and tells no value", async () => {
  await using world = await openEgressWorld({ secrets: () => [token], limits: { headMs: 500 } });
  const server = createHttpsServer(world.leaf("api.example.com"), (incoming, response) => {
    response.setHeader("Content-Type", "text/plain");
    response.end(`${incoming.url} ${JSON.stringify(incoming.rawHeaders)}`);
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  await world.place("api.example.com", 443, server);
  const sent = fc.oneof(
    fc
      .array(fc.constantFrom(...fragments), { maxLength: 14 })
      .map((parts) => Buffer.from(parts.join(""), "latin1")),
    fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
  );
  const protocols = fc.constantFrom(["http/1.1"], ["h2", "http/1.1"]);
  await fc.assert(
    fc.asyncProperty(sent, protocols, async (bytes, offered) => {
      const socket = await world.secure("api.example.com:443", offered);
      let answer = "";
      socket.setEncoding("latin1").on("data", (text: string) => (answer += text));
      // The proxy closes without reading the rest, which may reset the connection.
      socket.on("error", () => {});
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.end(bytes);
      setTimeout(() => socket.destroy(), 15);
      await closed;
      expect(answer).not.toContain(token.value);
    }),
    { numRuns: 150 / nth },
  );
  const { body } = await world.get("https://api.example.com/", { headers: { "X-A": token.placeholder } });
  expect(body).toContain(token.placeholder);
});
