import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createBoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import { silentLogger } from "../lib/logger.ts";
import { gitFiles } from "../egress/git-credentials.ts";
import { SharedTrust } from "../egress/way-out.ts";
import { WallEgress } from "./wall-egress.ts";

const noJava = { stores: [], networkSettings: [], settingsFolders: [] };

async function openWallEgress(granted: readonly string[]): Promise<{ folder: string; way: WallEgress }> {
  const folder = await mkdtemp(join(tmpdir(), "way-"));
  const way = new WallEgress({
    environment: {},
    isOwnListener: () => false,
    onEgress: () => {},
    logger: silentLogger,
    boundSecrets: createBoundSecretRegistry(),
    order: {
      rootId: "c1",
      ownerId: "u1",
      folder,
      kind: "bubblewrap",
      network: "none",
      limitedBy: [],
      granted,
      hide: [],
      unlocked: [],
      extraFolders: [],
    },
    folder,
    trust: new SharedTrust(),
  });
  onTestFinished(async () => {
    await way.close();
    await rm(folder, { recursive: true });
  });
  return { folder, way };
}

test("a way out that fails after it listens is closed, and leaves no file", async () => {
  const { folder, way } = await openWallEgress(["no host"]);
  await expect(way.open([], noJava)).rejects.toThrow("Write a host such as");
  expect(await readdir(folder)).toEqual([]);
});

test("a way out has a socket for as long as it is open, and opens again", async () => {
  const { folder, way } = await openWallEgress([]);
  for (let at = 0; at < 2; at += 1) {
    await way.open([], noJava);
    expect((await readdir(folder)).toSorted()).toEqual([...Object.values(gitFiles), "proxy.sock"].toSorted());
    await way.close();
    expect(await readdir(folder)).not.toContain("proxy.sock");
  }
});
