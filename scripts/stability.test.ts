import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { findBroken, keepReleased, listCommands, listJsonFields, promisedTexts } from "./stability.ts";

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

test("what is promised has the wire, the commands, their exit codes, their JSON and the client", async () => {
  const texts = await promisedTexts(root);
  expect([...texts.keys()].toSorted()).toEqual([
    "agent-server.txt",
    "app-server.txt",
    "client-diff-lines.api.md",
    "client-markdown.api.md",
    "client-view.api.md",
    "client.api.md",
    "commands.txt",
    "exit-codes.txt",
    "json.txt",
    "wire.json",
  ]);
  expect(texts.get("agent-server.txt")).toContain("\nPOST /api/conversations < application/json: ");
  expect(texts.get("app-server.txt")).toContain("\nGET /api/v1/sandboxes/search 200\n");
  expect(texts.get("exit-codes.txt")).toContain("3 stuck\n");
  expect(listJsonFields()).toEqual(
    expect.arrayContaining([
      "ls (lines, ls).title: string | null",
      "share (lines, share).url?: string",
      "doctor (value, findings)[].state: string",
    ]),
  );
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
