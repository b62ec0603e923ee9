import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FolderCluster } from "./folder-cluster.ts";
import { addressFileOf } from "./address-file.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

test("a node's address is read once for many requests, and its removal is noticed within a moment", async () => {
  await using folder = await openTemporaryDirectory();
  await mkdir(join(folder.path, "nodes"));
  const [asking, other] = ["asking", "other"].map((id) => new FolderCluster(folder.path, id, () => true));
  expect(await asking!.findAddress("other")).toBeNull();
  await other!.announce("http://127.0.0.1:4000");
  const nodeAddress = { url: "http://127.0.0.1:4000", secret: other!.ownSecret };
  expect(await asking!.findAddress("other")).toEqual(nodeAddress);
  await rm(addressFileOf(folder.path, "other"));
  expect(await asking!.findAddress("other")).toEqual(nodeAddress);
  vi.advanceTimersByTime(250);
  expect(await asking!.findAddress("other")).toBeNull();
});

test("a node that was killed is not among the living, though its address is still there", async () => {
  await using folder = await openTemporaryDirectory();
  await mkdir(join(folder.path, "nodes"));
  const killed = new Set(["killed"]);
  const [one, other, gone] = ["one", "other", "killed"].map(
    (id) => new FolderCluster(folder.path, id, (node) => !killed.has(node)),
  );
  for (const cluster of [one!, other!, gone!]) await cluster.announce("http://127.0.0.1:4000");
  expect((await one!.nodes()).map(({ id }) => id).toSorted()).toEqual(["one", "other"]);
});
