import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, request } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { expect, test } from "vitest";
import { openEgressWorld } from "./testing/egress-world.ts";
import { openWithSecret, placeHost, token } from "./testing/placed-host.ts";

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
  await using world = await openWithSecret();
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
