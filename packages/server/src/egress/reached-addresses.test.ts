import { Socket } from "node:net";
import { expect, test } from "vitest";
import { openEgressWorld } from "./testing/egress-world.ts";
import { createEchoServer } from "./testing/echo-server.ts";

test.each([
  ["http://127.0.0.1/", "127.0.0.1:80"],
  ["http://0x7f.1/", "127.0.0.1:80"],
  ["http://2130706433/", "127.0.0.1:80"],
  ["http://017700000001/", "127.0.0.1:80"],
  ["http://127.1:8000/", "127.0.0.1:8000"],
  ["http://[::ffff:127.0.0.1]/", "127.0.0.1:80"],
  ["http://[0:0::1]/", "[::1]:80"],
  ["http://169.254.169.254/latest", "169.254.169.254:80"],
  ["http://localhost./", "localhost:80"],
])("%s is refused, whatever the policy", async (address, target) => {
  await using world = await openEgressWorld();
  world.answerWith("localhost", ["127.0.0.1", "::1"]);
  const { status, body } = await world.send(address);
  expect({ status, body }).toEqual({
    status: 403,
    body: `${target} was refused: Its address is not a public one. A policy can list the host as private.\n`,
  });
  expect(world.dialled).toEqual([]);
});

test("a denied address is denied in its other spelling", async () => {
  await using world = await openEgressWorld({ policy: { allow: ["*"], deny: ["1.1.1.1"] } });
  const { body } = await world.send("http://[::ffff:1.1.1.1]/");
  expect(body).toBe("1.1.1.1:80 was refused: This conversation's network policy denies 1.1.1.1.\n");
});

test("a name is resolved once, the checked address is dialled, and one private address refuses it", async () => {
  await using world = await openEgressWorld();
  await world.place("a.example.com", 22, createEchoServer());
  world.answerWith("a.example.com", ["1.0.0.1"], ["127.0.0.1"], ["1.0.0.1", "10.0.0.1"]);
  const { status, socket } = await world.connect("a.example.com:22");
  socket.destroy();
  expect(status).toBe(200);
  expect(world.resolved).toEqual(["a.example.com"]);
  expect(world.dialled).toEqual(["1.0.0.1:22"]);
  expect((await world.connect("a.example.com:22")).status).toBe(403);
  expect((await world.connect("a.example.com:22")).status).toBe(403);
  expect(world.dialled).toEqual(["1.0.0.1:22"]);
});

test("private hosts pass where all policies list them, except for the server's own listeners", async () => {
  const rules = { private: ["nas.example.com:22"], allow: ["10.0.0.7:22"] };
  await using world = await openEgressWorld({
    policy: rules,
    limitedBy: [{ source: "server", policy: rules }],
    isOwnListener: (address, port) => address === "10.0.0.9" && port === 22,
  });
  world.answerWith("nas.example.com", ["10.0.0.5"], ["10.0.0.9"], ["10.0.0.5"]);
  await world.connect("nas.example.com:22");
  await world.connect("10.0.0.7:22");
  expect(world.dialled).toEqual(["10.0.0.5:22", "10.0.0.7:22"]);
  expect((await world.connect("nas.example.com:22")).reason).toBe(
    "nas.example.com:22 was refused: The server itself listens there.",
  );
  world.egress.setPolicies({ policy: rules, limitedBy: [{ source: "server", policy: "all" }] });
  expect((await world.connect("nas.example.com:22")).status).toBe(403);
});

test("what cannot be reached is a sentence", async () => {
  await using world = await openEgressWorld({
    connect: () => {
      const socket = new Socket();
      setImmediate(() => socket.destroy(Object.assign(new Error("no"), { code: "ECONNREFUSED" })));
      return socket;
    },
  });
  expect(await world.connect("a.example.com:22")).toMatchObject({
    status: 502,
    reason: "a.example.com:22 could not be reached: It refused the connection.",
  });
  world.answerWith("none.example.com", []);
  expect((await world.send("http://none.example.com/")).body).toBe(
    "none.example.com:80 could not be reached: Its name has no address.\n",
  );
});
