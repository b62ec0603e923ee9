import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "./listen.ts";

test("a socket that cannot get its name is closed, and leaves no file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "listen-"));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const path = join(folder, "proxy.sock");
  await mkdir(path);
  await writeFile(join(path, "file"), "");
  const server = createServer();
  await expect(listen(server, path)).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
  expect(server.listening).toBe(false);
  expect(await readdir(folder)).toEqual(["proxy.sock"]);
});

test("a path that is too long for a socket is named", async () => {
  await expect(listen(createServer(), `/${"x".repeat(200)}`)).rejects.toThrow("is longer than 103 bytes");
});
