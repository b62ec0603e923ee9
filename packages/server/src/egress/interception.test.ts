import { once } from "node:events";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { connect, createServer as createTlsServer } from "node:tls";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { BoundSecret } from "./egress.ts";
import { type EgressWorld, openEgressWorld } from "./testing/egress-world.ts";

const token: BoundSecret = {
  name: "TOKEN",
  placeholder: "cvk_TOKEN_0123456789abcdefghijklmn",
  value: "s3cret-Value+with/odd=chars",
  hosts: ["api.example.com"],
  as: ["header", "basic"],
};

type Seen = { url: string; headers: IncomingMessage["headers"]; body: string };

/** A host that records requests and answers with what `answer` writes. */
async function placeHost(
  world: EgressWorld,
  host: string,
  answer: (seen: Seen, response: ServerResponse) => void = (_, response) => response.end("hello"),
): Promise<Seen[]> {
  const seen: Seen[] = [];
  const server = createHttpsServer(world.leaf(host), (incoming, response) => {
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

const withSecret = async (secret: Partial<BoundSecret> = {}): Promise<EgressWorld> =>
  openEgressWorld({ secrets: () => [{ ...token, ...secret }] });

test("a placeholder in any header becomes the value, and the audit has the secret's name only", async () => {
  await using world = await withSecret();
  const seen = await placeHost(world, "api.example.com");
  const answer = await world.get("https://api.example.com/v1?q=1", {
    headers: { Authorization: `Bearer ${token.placeholder}`, "X-Two": ["a", `${token.placeholder}!`] },
  });
  expect(answer).toMatchObject({ status: 200, body: "hello" });
  expect(seen[0]!.headers).toMatchObject({
    host: "api.example.com",
    authorization: `Bearer ${token.value}`,
    "x-two": `a, ${token.value}!`,
  });
  await expect
    .poll(() => world.records)
    .toMatchObject([{ kind: "request", path: "/v1", status: 200, secrets: ["TOKEN"] }]);
  expect(JSON.stringify(world.records)).not.toContain(token.value);
});

test("a placeholder in HTTP Basic becomes the value, as name or password", async () => {
  await using world = await withSecret();
  const seen = await placeHost(world, "api.example.com");
  for (const login of [`x:${token.placeholder}`, `${token.placeholder}:`]) {
    await world.get("https://api.example.com/", { headers: { Authorization: `Basic ${btoa(login)}` } });
  }
  expect(seen.map(({ headers }) => atob(headers.authorization!.slice(6)))).toEqual([
    `x:${token.value}`,
    `${token.value}:`,
  ]);
});

test.each([
  ["header", { "X-A": token.placeholder }],
  ["basic", { Authorization: `Basic ${btoa(`x:${token.placeholder}`)}` }],
] as const)("a secret that is not for a %s stays a placeholder there", async (place, headers) => {
  await using world = await withSecret({ as: token.as.filter((other) => other !== place) });
  const seen = await placeHost(world, "api.example.com");
  await world.get("https://api.example.com/", { headers });
  expect(seen[0]!.headers).toMatchObject(
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  );
});

test("query and body are changed when asked, as their form has it", async () => {
  await using world = await withSecret({ as: ["query", "body"] });
  const seen = await placeHost(world, "api.example.com");
  const send = async (type: string, body: string) =>
    world.get(`https://api.example.com/a/${token.placeholder}?key=${token.placeholder}&x=1`, {
      method: "POST",
      headers: { "Content-Type": type },
      body,
    });
  await send("application/json", JSON.stringify({ key: token.placeholder }));
  await send("application/x-www-form-urlencoded", `key=${token.placeholder}`);
  await send("text/plain", `key ${token.placeholder}`);
  const query = `/a/${token.placeholder}?key=${encodeURIComponent(token.value)}&x=1`;
  expect(seen.map(({ url }) => url)).toEqual([query, query, query]);
  expect(seen.map(({ body }) => body)).toEqual([
    JSON.stringify({ key: token.value }),
    `key=${encodeURIComponent(token.value)}`,
    `key ${token.value}`,
  ]);
});

test("bodies that are no text, compressed or larger than 1 MiB pass unchanged", async () => {
  await using world = await withSecret({ as: ["body"] });
  const seen = await placeHost(world, "api.example.com");
  const large = token.placeholder.padEnd(1024 * 1024 + 1, ".");
  const text = { "Content-Type": "text/plain" };
  const small = token.placeholder;
  const post = { method: "POST" };
  await world.get("https://api.example.com/", { ...post, body: large, headers: text });
  await world.get("https://api.example.com/", {
    ...post,
    body: large,
    headers: { ...text, "Transfer-Encoding": "chunked" },
  });
  await world.get("https://api.example.com/", {
    ...post,
    body: small,
    headers: { ...text, "Content-Encoding": "x" },
  });
  await world.get("https://api.example.com/", { ...post, body: small });
  expect(seen.map(({ body }) => body)).toEqual([large, large, small, small]);
});

test("to another host, over plain HTTP and through a tunnel a placeholder stays one", async () => {
  await using world = await withSecret();
  const headers = { Authorization: `Bearer ${token.placeholder}` };
  const seen: IncomingMessage[] = [];
  const plain = createHttpServer((incoming, response) => (seen.push(incoming), response.end()));
  await world.place("api.example.com", 80, plain);
  await world.place("api.example.com", 8080, plain);
  await world.send("http://api.example.com/", { headers });
  const { socket } = await world.connect("api.example.com:80");
  const asked = request({
    createConnection: () => socket,
    path: "/",
    headers: { ...headers, host: "api.example.com" },
  }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  await answer.resume().toArray();
  expect(seen.map((incoming) => incoming.headers.authorization)).toEqual([
    headers.Authorization,
    headers.Authorization,
  ]);
  // Not bound there: copied, so that the client meets the host's own certificate.
  const other = createTlsServer(world.leaf("other.example.com"));
  await world.place("other.example.com", 443, other);
  await expect(world.secure("other.example.com:443")).rejects.toThrow(/self-signed|unable to verify|issuer/);
});

test("a forged Host and SNI do not change where a secret goes", async () => {
  await using world = await withSecret();
  const seen = await placeHost(world, "api.example.com");
  await world.get("https://api.example.com/", {
    headers: { host: "evil.example", "X-A": token.placeholder },
  });
  expect(seen[0]!.headers).toMatchObject({ host: "api.example.com", "x-a": token.value });
  expect(world.resolved).toEqual(["api.example.com"]);
  const { socket } = await world.connect("api.example.com:443");
  const tls = connect({ socket, servername: "evil.example", ca: world.egress.certificate });
  const [error] = (await once(tls, "error")) as [Error];
  expect(error.message).toContain("does not match certificate's altnames");
});

test("a secret that no header can carry is refused in words, without its value", async () => {
  await using world = await withSecret({ value: "two\nlines" });
  await placeHost(world, "api.example.com");
  const { status, body } = await world.get("https://api.example.com/", {
    headers: { "X-A": token.placeholder },
  });
  expect({ status, body }).toEqual({
    status: 403,
    body: "api.example.com:443 was refused: With its secret, the header X-A has the control character U+000A at position 4, which no header can carry.\n",
  });
});

test("the value in an answer is the placeholder again: in headers, JSON, chunks and gzip", async () => {
  await using world = await withSecret();
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
  await using world = await withSecret();
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

test("websockets pass with a secret in their request, and not to read-only hosts", async () => {
  await using world = await openEgressWorld({
    policy: { allow: ["api.example.com"], read_only: ["files.example.com"] },
    secrets: () => [token],
  });
  for (const host of ["api.example.com", "files.example.com"]) {
    const server = createHttpsServer(world.leaf(host));
    const sockets = new WebSocketServer({ server });
    sockets.on("connection", (socket, { headers }) => {
      socket.on("message", (data: Buffer) => socket.send(`${String(headers["x-a"])} ${data.toString()}`));
    });
    await world.place(host, 443, server);
  }
  const open = async (host: string): Promise<WebSocket> => {
    const socket = await world.secure(`${host}:443`);
    return new WebSocket(`ws://${host}/socket?x=1`, {
      createConnection: () => socket,
      headers: { "X-A": token.placeholder },
    });
  };
  const socket = await open("api.example.com");
  await once(socket, "open");
  socket.send("ping");
  expect(String((await once(socket, "message"))[0])).toBe(`${token.value} ping`);
  socket.close();
  await expect
    .poll(() => world.records)
    .toMatchObject([{ kind: "tunnel", path: "/socket", secrets: ["TOKEN"], host: "api.example.com" }]);
  const refused = await open("files.example.com");
  const [error] = (await once(refused, "error")) as [Error];
  expect(error.message).toBe("Unexpected server response: 403");
});

test("a refused host answers inside of TLS with the wall's authority, and is not resolved", async () => {
  await using world = await openEgressWorld({ policy: "none" });
  const { status, body } = await world.get("https://files.example.com/");
  expect({ status, body }).toEqual({
    status: 403,
    body: "files.example.com:443 was refused: This conversation's network policy has no rule that allows it. Ask for it with request_network.\n",
  });
  expect(world.resolved).toEqual([]);
  await expect.poll(() => world.records).toMatchObject([{ kind: "refusal", count: 1 }]);
  expect(world.egress.totals()).toMatchObject([{ refusals: 1, requests: 0 }]);
});

test("a read-only host is read, in TLS and without; what writes is refused and not sent", async () => {
  await using world = await openEgressWorld({
    policy: { read_only: ["files.example.com", "files.example.com:8080"] },
  });
  const seen = await placeHost(world, "files.example.com");
  expect(await world.get("https://files.example.com/a")).toMatchObject({ status: 200, body: "hello" });
  const refused = await world.get("https://files.example.com/a", { method: "PUT", body: "data" });
  expect(refused.body).toBe(
    "files.example.com:443 was refused: This host is read-only; PUT is not allowed.\n",
  );
  const foreign = await world.get("https://files.example.com/a", { headers: { Authorization: "Bearer x" } });
  expect(foreign.status).toBe(403);
  expect(seen).toHaveLength(1);
  // No TLS inside of the tunnel: the same rules.
  await world.place(
    "files.example.com",
    8080,
    createHttpServer((_, response) => response.end("plain")),
  );
  for (const [method, status] of [
    ["GET", 200],
    ["POST", 403],
  ] as const) {
    const { socket } = await world.connect("files.example.com:8080");
    const asked = request({ createConnection: () => socket, method, path: "/" }).end();
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    expect(answer.statusCode).toBe(status);
    socket.destroy();
  }
});

test("a secret as credential lifts the rules of a read-only host", async () => {
  await using world = await openEgressWorld({
    policy: { read_only: ["api.example.com"] },
    secrets: () => [token],
  });
  const seen = await placeHost(world, "api.example.com");
  const send = async (headers: Record<string, string>) =>
    (await world.get("https://api.example.com/push", { method: "POST", body: "data", headers })).status;
  expect(await send({ Authorization: `Bearer ${token.placeholder}` })).toBe(200);
  expect(await send({ "X-A": token.placeholder })).toBe(403);
  expect(await send({ "X-A": token.placeholder, Authorization: "Bearer foreign" })).toBe(403);
  expect(seen).toHaveLength(1);
});

test("a host with a wrong certificate, a private address or no answer is a sentence inside of TLS", async () => {
  const hosts = ["wrong.example.com", "inside.example.com", "closed.example.com"];
  await using world = await openEgressWorld({ policy: { read_only: hosts } });
  await world.place("wrong.example.com", 443, createHttpsServer(world.leaf("other.example")));
  world.answerWith("inside.example.com", ["10.0.0.1"], ["10.0.0.1"]);
  const bodies = await Promise.all(hosts.map(async (host) => (await world.get(`https://${host}/`)).body));
  expect(bodies[0]).toContain(
    "wrong.example.com:443 could not be reached: Its TLS failed (Hostname/IP does not match",
  );
  expect(bodies[1]).toContain("inside.example.com:443 was refused: Its address is not a public one.");
  expect(bodies[2]).toContain("closed.example.com:443 could not be reached: It refused the connection.");
});

test("a client that waits for 100 sends its body only when the host asks for it", async () => {
  await using world = await withSecret();
  const server = createHttpsServer(world.leaf("api.example.com"));
  server.on("checkContinue", (incoming, response) => {
    if (incoming.url === "/no") return void response.writeHead(417).end();
    response.writeContinue();
    incoming.pipe(response);
  });
  await world.place("api.example.com", 443, server);
  for (const path of ["/yes", "/no"]) {
    const socket = await world.secure("api.example.com:443");
    const asked = request({
      createConnection: () => socket,
      method: "POST",
      path,
      headers: { Expect: "100-continue", "Content-Length": 4 },
    });
    asked.flushHeaders();
    asked.once("continue", () => asked.end("data"));
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    const text = Buffer.concat(await answer.toArray()).toString();
    expect([answer.statusCode, text]).toEqual(path === "/yes" ? [200, "data"] : [417, ""]);
    socket.destroy();
  }
});

test("trailers of HTTP/1.1 pass both ways, and those of an answer are masked", async () => {
  await using world = await withSecret();
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
