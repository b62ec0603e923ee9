import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { openEgressWorld } from "./testing/egress-world.ts";

/** Never connects. */
const connectNowhere = (): Socket => connect({ port: 1, host: "never.invalid", lookup: () => {} });

const ask = (host: string): string => `CONNECT ${host}:22 HTTP/1.1\r\n\r\n`;

test("no more connections are opened at a host and in all than the maximum", async () => {
  await using world = await openEgressWorld({
    connect: connectNowhere,
    limits: { maxDials: 3, maxDialsAtHost: 2 },
  });
  for (let at = 0; at < 2; at += 1) (await world.open()).write(ask("a.example.com"));
  await expect.poll(() => world.resolved.length).toBe(2);
  expect(await world.connect("a.example.com:22")).toMatchObject({
    status: 503,
    reason:
      "a.example.com:22 was refused: This wall opens 2 connections to it at this moment, which is the maximum.",
  });
  const last = await world.open();
  last.write(ask("b.example.com"));
  await expect.poll(() => world.resolved.length).toBe(3);
  expect((await world.send("http://c.example.com/")).body).toBe(
    "c.example.com:80 was refused: This wall opens 3 connections at this moment, which is the maximum.\n",
  );
  expect(world.records.map((record) => record.kind === "refusal" && record.reason)).toContain(
    "too-many-connections",
  );
});

test("a slot is free again after a connection failed", async () => {
  await using world = await openEgressWorld({ limits: { maxDials: 1, maxDialsAtHost: 1 } });
  for (let at = 0; at < 3; at += 1) expect((await world.connect("a.example.com:22")).status).toBe(502);
});

test("no more names are looked up than the maximum, and one name once at a time", async () => {
  const asked: string[] = [];
  const late = Promise.withResolvers<never>();
  await using world = await openEgressWorld({
    resolve: async (host) => {
      asked.push(host);
      return await late.promise;
    },
    limits: { maxLookups: 2, resolveMs: 200 },
  });
  const waiting = ["a", "a", "b"].map(async (name) => world.connect(`${name}.example.com:22`));
  await expect.poll(() => asked).toEqual(["a.example.com", "b.example.com"]);
  expect(await world.connect("c.example.com:22")).toMatchObject({
    status: 503,
    reason: "c.example.com:22 was refused: This wall waits for 2 names to be resolved, which is the maximum.",
  });
  for (const { reason } of await Promise.all(waiting)) expect(reason).toContain("not resolved in time");
  // The system still works on them, although nobody waits.
  expect((await world.connect("d.example.com:22")).status).toBe(503);
  late.reject(new Error("ENOTFOUND"));
  await expect.poll(async () => (await world.connect("d.example.com:22")).status).toBe(502);
  expect(asked).toEqual(["a.example.com", "b.example.com", "d.example.com"]);
});
