import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NetworkPolicy } from "@convoke/protocol";
import { expect, test } from "vitest";
import { createBoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import { sandboxDirectory } from "./sandbox-directory.ts";
import { createTestWays } from "./testing/test-ways.ts";

async function openPlace() {
  const folder = await mkdtemp(join(tmpdir(), "convoke-ways-"));
  const directory = sandboxDirectory(folder, "one");
  const statusOf = async (host: string): Promise<number> => {
    const socketPath = join(directory.egressDir, "proxy.sock");
    const asked = request({ socketPath, path: `http://${host}/`, headers: { host }, agent: false }).end();
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    answer.resume();
    return answer.statusCode ?? 0;
  };
  return {
    order: { id: "one", directory, authority: "secret of one" },
    statusOf,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** Nobody listens there: 502 when it is allowed. */
const host = "127.0.0.1:1";

test("a grant holds while a conversation of the sandbox has it", async () => {
  await using place = await openPlace();
  await using ways = createTestWays("registries");
  ways.setGrants("one", "a", [host]);
  await ways.open(place.order, undefined);
  // Before it was open there was nothing to grant.
  expect(await place.statusOf(host)).toBe(403);
  ways.setGrants("one", "a", [host]);
  ways.setGrants("one", "b", [host, "other.example"]);
  ways.setGrants("one", "a", []);
  expect(await place.statusOf(host)).toBe(502);
  ways.setGrants("one", "b", ["other.example"]);
  expect(await place.statusOf(host)).toBe(403);
  expect(ways.refusalsSince("one", 0).text).toContain(`${host} was refused`);
  expect(ways.totals("one")).toMatchObject([{ host: "127.0.0.1", refusals: 2 }]);
});

test("one without a network gets no way out when it is found again, and a removed one keeps none", async () => {
  await using place = await openPlace();
  await using ways = createTestWays("all");
  await ways.reopen(place.order);
  expect(ways.has("one")).toBe(false);
  const { publicKeyDigest } = await ways.open(place.order, undefined);
  await ways.close("one");
  await ways.close("one");
  expect(ways.has("one")).toBe(false);
  await expect(stat(join(place.order.directory.egressDir, "proxy.sock"))).rejects.toThrow("ENOENT");
  await ways.reopen(place.order);
  expect((await ways.open(place.order, undefined)).publicKeyDigest).toBe(publicKeyDigest);
});

test("the policy of a sandbox's spec takes the place of the server's, also when it is found again", async () => {
  await using place = await openPlace();
  const order = { ...place.order, policy: { allow: [host], private: ["127.0.0.1"] } };
  await using first = createTestWays("registries");
  await first.open(order, undefined);
  expect(await place.statusOf(host)).toBe(502);
  await first.close("one");
  await using later = createTestWays("all");
  await later.reopen(order);
  expect(await place.statusOf("other.example")).toBe(403);
});

test("what a conversation of another process has bound is forgotten with the sandbox", async () => {
  await using place = await openPlace();
  const boundSecrets = createBoundSecretRegistry();
  await using ways = createTestWays("registries", () => {}, { boundSecrets });
  const token = { name: "TOKEN", placeholder: "p", value: "v", hosts: [host], as: ["header" as const] };
  // Not one of this machine, or without a network.
  ways.setSecrets("one", "a", [token]);
  expect(boundSecrets.ofWall("one")).toEqual([]);
  await ways.open(place.order, undefined);
  ways.setSecrets("one", "a", [token]);
  expect(boundSecrets.ofWall("one")).toEqual([token]);
  // It opens no host.
  expect(await place.statusOf(host)).toBe(403);
  await ways.close("one");
  expect(boundSecrets.ofWall("one")).toEqual([]);
});

test("what the owner may reach at most bounds policy and grants, and a changed limit counts", async () => {
  await using place = await openPlace();
  let limit: NetworkPolicy | undefined = "none";
  await using ways = createTestWays("registries", () => {}, { limitOf: () => limit });
  await ways.open(place.order, undefined);
  ways.setGrants("one", "a", [host]);
  expect(await place.statusOf(host)).toBe(403);
  expect(ways.refusalsSince("one", 0).text).toContain(`${host} was refused`);
  limit = { allow: [host], private: ["127.0.0.1"] };
  ways.checkLimits();
  expect(await place.statusOf(host)).toBe(502);
  expect(await place.statusOf("other.example")).toBe(403);
  limit = undefined;
  ways.checkLimits();
  expect(await place.statusOf(host)).toBe(502);
});
