import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { deriveAuthorityKey } from "./certificates/derive-authority-key.ts";
import { SharedTrust, WayOut } from "./way-out.ts";

async function openPlace() {
  const folder = await mkdtemp(join(tmpdir(), "convoke-way-"));
  const trust = new SharedTrust();
  const create = (): WayOut =>
    new WayOut({
      folder,
      trust,
      environment: {},
      policies: () => ({ policy: "registries", limitedBy: [] }),
      secrets: () => [],
      isOwnListener: () => false,
      onRecord: () => {},
      onUnexpected: (error) => expect.unreachable(String(error)),
      authorityKey: deriveAuthorityKey("the same for each server"),
    });
  return {
    create,
    socketPath: join(folder, "proxy.sock"),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** The status of the answer to a plain request; no name is resolved for one that is refused. */
async function statusOf(socketPath: string, host: string): Promise<number> {
  const asked = request({ socketPath, path: `http://${host}/`, headers: { host }, agent: false }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode ?? 0;
}

test("the next server has the same authority, and one that ends late leaves its socket alone", async () => {
  await using place = await openPlace();
  const earlier = place.create();
  const before = await earlier.open();
  const later = place.create();
  const after = await later.open();
  expect(after.publicKeyDigest).toBe(before.publicKeyDigest);
  expect(after.bundle).toContain(after.authority);
  await earlier.close();
  expect(await statusOf(place.socketPath, "files.example.com")).toBe(403);
  expect(later.refusalsSince(0).text).toContain("files.example.com:80 was refused (no rule)");
  await later.close();
  await expect(stat(place.socketPath)).rejects.toThrow("ENOENT");
});

test("grants count before it is open and after it was closed, until they are revoked", async () => {
  await using place = await openPlace();
  const way = place.create();
  way.grant(["127.0.0.1:1"]);
  await way.open();
  // Nobody listens there: it was allowed.
  expect(await statusOf(place.socketPath, "127.0.0.1:1")).toBe(502);
  await way.close();
  await way.open();
  expect(await statusOf(place.socketPath, "127.0.0.1:1")).toBe(502);
  way.revoke(["127.0.0.1:1"]);
  expect(await statusOf(place.socketPath, "127.0.0.1:1")).toBe(403);
  expect(way.totals()).toMatchObject([{ host: "127.0.0.1", port: 1, refusals: 1 }]);
  await way.close();
});
