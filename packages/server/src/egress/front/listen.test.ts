import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readText } from "../testing/echo-server.ts";
import { listen } from "./listen.ts";

test("a socket that cannot get its name is closed, and leaves no file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "listen-"));
  onTestFinished(async () => rm(folder, { recursive: true }));
  const path = join(folder, "proxy.sock");
  await mkdir(path);
  await writeFile(join(path, "file"), "");
  const server = createServer();
  await expect(listen(server, path, () => {})).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
  expect(server.listening).toBe(false);
  expect(await readdir(folder)).toEqual(["proxy.sock"]);
});

test("a connection that cannot be accepted is reported, and later ones are", async () => {
  const folder = await mkdtemp(join(tmpdir(), "listen-"));
  const server = createServer((socket) => void socket.end("hello"));
  onTestFinished(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  const path = join(folder, "proxy.sock");
  const reported: Error[] = [];
  await listen(server, path, (error) => void reported.push(error));
  const error = Object.assign(new Error("accept EMFILE"), { code: "EMFILE" });
  for (let at = 0; at < 2; at += 1) server.emit("error", error);
  expect(reported).toEqual([error, error]);
  expect(await readText(connect({ path }))).toBe("hello");
});

test("a path that is too long for a socket is named", async () => {
  await expect(listen(createServer(), `/${"x".repeat(200)}`, () => {})).rejects.toThrow(
    "is longer than 103 bytes",
  );
});
