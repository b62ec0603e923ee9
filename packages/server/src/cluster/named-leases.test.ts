import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { FolderLeases } from "./named-leases.ts";

test("a lease is exclusive until it is released; other names are free", async () => {
  await using folder = await openTemporaryDirectory();
  const [one, other] = [new FolderLeases(folder.path), new FolderLeases(folder.path)];
  const taken = await one.take("webhook-a");
  expect(taken).not.toBeNull();
  expect(await other.take("webhook-a")).toBeNull();
  expect(await one.take("webhook-a")).toBeNull();
  await using free = await other.take("webhook-b");
  expect(free).not.toBeNull();
  expect(taken!.isHeld()).toBe(true);
  await taken![Symbol.asyncDispose]();
  await using again = await other.take("webhook-a");
  expect(again).not.toBeNull();
  expect((await readdir(join(folder.path, "nodes"))).sort()).toEqual(["webhook-a.lease", "webhook-b.lease"]);
});

test("a killed process loses its leases", async () => {
  await using folder = await openTemporaryDirectory();
  const leases = new FolderLeases(folder.path);
  const source = `
    import { FolderLeases } from ${JSON.stringify(new URL("named-leases.ts", import.meta.url).href)};
    globalThis.kept = await new FolderLeases(${JSON.stringify(folder.path)}).take("job");
    console.log("taken");
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(child.stdout, "data");
    expect(await leases.take("job")).toBeNull();
  } finally {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
  await using freed = await leases.take("job");
  expect(freed).not.toBeNull();
});
