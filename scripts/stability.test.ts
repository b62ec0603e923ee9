import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { findBroken, keepReleased, listCommands, promisedTexts } from "./stability.ts";

const root = path.resolve(import.meta.dirname, "..");

test("nothing that the newest release promised is gone: docs/stability.md says when it may be", async () => {
  expect(findBroken(root, await promisedTexts(root))).toEqual([]);
});

test("a promise that is gone is named, unless the version allows it", () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-stability-"));
  const setVersion = (version: string): void =>
    writeFileSync(path.join(folder.path, "package.json"), JSON.stringify({ version }));
  mkdirSync(path.join(folder.path, "docs/api"), { recursive: true });
  const now = new Map([["commands.txt", "convoke serve\n"]]);
  setVersion("1.0.0");
  expect(findBroken(folder.path, now)).toEqual([]);
  keepReleased(
    folder.path,
    "1.0.0",
    new Map([
      ["commands.txt", "convoke run\nconvoke serve\n"],
      ["wire.json", `{"GET /alive":{"status":"string"}}`],
    ]),
  );
  setVersion("1.1.0");
  expect(findBroken(folder.path, now)).toEqual([
    "commands.txt: convoke run",
    "wire.json: GET /alive",
    "wire.json: GET /alive.status: string",
  ]);
  setVersion("2.0.0");
  expect(findBroken(folder.path, now)).toEqual([]);
});

test("the commands are listed with their arguments and flags", async () => {
  expect(await listCommands()).toEqual(
    expect.arrayContaining([
      "convoke serve",
      "convoke serve --port",
      "convoke keys create --user",
      "convoke backup --to",
    ]),
  );
});
