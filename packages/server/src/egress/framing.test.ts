import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { readText } from "./testing/echo-server.ts";
import { type EgressWorld, openEgressWorld } from "./testing/egress-world.ts";

/** Sends a request with `Connection: close`, and gives all that the proxy answers. */
async function sendRaw(world: EgressWorld, ...lines: readonly string[]): Promise<string> {
  const socket = await world.open();
  socket.write(lines.join("\r\n"));
  return readText(socket);
}

const inner = ["GET /inner HTTP/1.1", "Host: a.example.com", "", ""].join("\r\n");

test.each([
  ["GET", "Content-Length, close"],
  ["DELETE", "close,content-length ,x"],
  ["POST", "content-length, close"],
])("a %s whose Connection names %s has its body still counted at the host", async (method, named) => {
  await using world = await openEgressWorld();
  const seen: string[] = [];
  const server = createHttpServer((incoming, response) => {
    void incoming.toArray().then((chunks) => {
      seen.push(`${incoming.url} ${Buffer.concat(chunks).toString()}`);
      response.end("hello");
    });
  });
  await world.place("a.example.com", 80, server);
  await sendRaw(
    world,
    `${method} http://a.example.com/outer HTTP/1.1`,
    "Host: a.example.com",
    `Connection: ${named}`,
    `Content-Length: ${inner.length}`,
    "",
    inner,
  );
  expect(seen).toEqual([`/outer ${inner}`]);
});

test.each(["Transfer-Encoding", "Host"])("a request whose Connection names %s keeps it", async (named) => {
  await using world = await openEgressWorld();
  const seen: unknown[] = [];
  const server = createHttpServer((incoming, response) => {
    void incoming.toArray().then((chunks) => {
      seen.push([incoming.headers.host, Buffer.concat(chunks).toString()]);
      response.end("hello");
    });
  });
  await world.place("a.example.com", 80, server);
  await sendRaw(
    world,
    "POST http://a.example.com/ HTTP/1.1",
    "Host: b.example.com",
    `Connection: ${named}, close`,
    "Transfer-Encoding: chunked",
    "",
    "4\r\ndata\r\n0\r\n\r\n",
  );
  expect(seen).toEqual([["a.example.com", "data"]]);
});

test("an answer whose Connection names its length keeps it", async () => {
  await using world = await openEgressWorld();
  const server = createServer((socket) => {
    socket.once("data", () =>
      socket.end(
        "HTTP/1.1 200 OK\r\nConnection: content-length, x-own\r\nX-Own: 1\r\nContent-Length: 5\r\n\r\nhello",
      ),
    );
  });
  await world.place("a.example.com", 80, server);
  const { headers, body } = await world.send("http://a.example.com/");
  expect([headers["content-length"], headers["x-own"], body]).toEqual(["5", undefined, "hello"]);
});
