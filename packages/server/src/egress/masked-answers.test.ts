import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openWithSecret, placeHost, token } from "./testing/placed-host.ts";

test("the value in an answer is the placeholder again: in headers, JSON, chunks and gzip", async () => {
  await using world = await openWithSecret();
  const json = JSON.stringify({ token: token.value, encoded: encodeURIComponent(token.value) });
  const masked = JSON.stringify({ token: token.placeholder, encoded: token.placeholder });
  await placeHost(world, "api.example.com", ({ url, headers }, response) => {
    expect(headers["accept-encoding"]).toBe("identity");
    // A part of an answer would have a part of the value.
    expect(headers.range).toBeUndefined();
    if (url === "/gzip") {
      const packed = gzipSync(json);
      response.writeHead(200, {
        "Content-Type": "application/json",
        "Content-Encoding": "gzip",
        "Content-Length": packed.length,
      });
      response.end(packed);
      return;
    }
    response.writeHead(200, `Hello ${token.value}`, {
      "Content-Type": "application/json",
      "X-Echo": token.value,
      ...(url === "/whole" ? { "Content-Length": json.length } : {}),
    });
    if (url === "/whole") return void response.end(json);
    const at = json.indexOf(token.value) + 5;
    response.write(json.slice(0, at), () => response.end(json.slice(at)));
  });
  const headers = { "X-A": token.placeholder, "Accept-Encoding": "gzip", Range: "bytes=0-9" };
  for (const path of ["whole", "chunks", "gzip"]) {
    const answer = await world.get(`https://api.example.com/${path}`, { headers });
    expect(answer.body).toBe(masked);
    expect(answer.headers["content-encoding"]).toBeUndefined();
    if (path === "gzip") continue;
    expect(answer.headers["x-echo"]).toBe(token.placeholder);
    expect(answer.reason).toBe(`Hello ${token.placeholder}`);
  }
});

test("a stream of events is not held back, except for what begins like the value", async () => {
  await using world = await openWithSecret();
  let push = (_text: string): void => {};
  await placeHost(world, "api.example.com", (_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    push = (text) => void response.write(text);
    push("data: 1\n\n");
  });
  const socket = await world.secure("api.example.com:443");
  const asked = request({
    createConnection: () => socket,
    path: "/",
    headers: { "X-A": token.placeholder },
  }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  expect(String((await once(answer, "data"))[0])).toBe("data: 1\n\n");
  push(`data: ${token.value.slice(0, 10)}`);
  expect(String((await once(answer, "data"))[0])).toBe("data: ");
  push(`${token.value.slice(10)} 3\n\n`);
  expect(String((await once(answer, "data"))[0])).toBe(`${token.placeholder} 3\n\n`);
  socket.destroy();
});

test("trailers of HTTP/1.1 pass both ways, and those of an answer are masked", async () => {
  await using world = await openWithSecret();
  let trailers: unknown;
  const server = createHttpsServer(world.leaf("api.example.com"), (incoming, response) => {
    void incoming.toArray().then(() => {
      trailers = incoming.trailers;
      response.writeHead(200, { Trailer: "X-Sum" });
      response.write("hello");
      response.addTrailers({ "X-Sum": token.value });
      response.end();
    });
  });
  await world.place("api.example.com", 443, server);
  const socket = await world.secure("api.example.com:443");
  const asked = request({
    createConnection: () => socket,
    method: "POST",
    path: "/",
    headers: { "X-A": token.placeholder, Trailer: "X-In", "Transfer-Encoding": "chunked" },
  });
  asked.write("data");
  asked.addTrailers({ "X-In": "1" });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  await answer.toArray();
  expect(trailers).toEqual({ "x-in": "1" });
  expect(answer.trailers).toEqual({ "x-sum": token.placeholder });
  socket.destroy();
});
