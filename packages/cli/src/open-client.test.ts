import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CommandError } from "./exit-codes.ts";
import { openClient, type ServerOptions } from "./open-client.ts";
import type { Node } from "./open-node.ts";
import { announceServer } from "./running-servers.ts";

const url = "http://127.0.0.1:8123";
const elsewhere = "https://agents.example.org/prefix";

async function openFolder() {
  const folder = await mkdtempDisposable(join(tmpdir(), "convoke-client-"));
  await writeFile(join(folder.path, "session-api-key"), "key-of-the-folder\n");
  return { path: folder.path, [Symbol.asyncDispose]: () => folder.remove() };
}

const running = { url: elsewhere, apiUrl: url, usesFolderKey: true, hasPage: false, needsLogin: true };

async function open(options: ServerOptions, key?: string) {
  const openOwn = async (): Promise<Node> => {
    throw new Error("A server was started.");
  };
  const environment = key === undefined ? {} : { SESSION_API_KEY: key };
  await using opened = await openClient(options, { environment, openOwn });
  return { url: opened.url, apiKey: opened.apiKey, source: opened.source };
}

test("the server that runs on the data folder is found by its local address, with the key of the folder", async () => {
  await using folder = await openFolder();
  await using _server = await announceServer(folder.path, running);
  const found = { url, apiKey: "key-of-the-folder", source: "running" };
  expect(await open({ dataDir: folder.path })).toEqual(found);
  // A configured key is of other servers where this one uses that of its folder.
  expect(await open({ dataDir: folder.path }, "configured")).toEqual(found);
  expect(await open({ dataDir: folder.path, server: `${url}/` })).toEqual({ ...found, source: "named" });
});

test("the key of the data folder is not sent to any other server", async () => {
  await using folder = await openFolder();
  await using _server = await announceServer(folder.path, running);
  const named = { url: elsewhere, source: "named" };
  const options = { dataDir: folder.path, server: elsewhere };
  expect(await open(options)).toEqual({ ...named, apiKey: null });
  expect(await open(options, "configured")).toEqual({ ...named, apiKey: "configured" });
});

test("a running server with a configured key needs that key, and the error names the variable", async () => {
  await using folder = await openFolder();
  await using _server = await announceServer(folder.path, { ...running, usesFolderKey: false });
  await expect(open({ dataDir: folder.path })).rejects.toThrow("Set SESSION_API_KEY");
  expect(await open({ dataDir: folder.path }, "configured")).toMatchObject({ apiKey: "configured" });
});

test("without a running server one is started, and an address that is none is refused before", async () => {
  await using folder = await openFolder();
  await expect(open({ dataDir: folder.path })).rejects.toThrow("A server was started.");
  await expect(open({ dataDir: folder.path, server: "localhost:8000" })).rejects.toThrow(CommandError);
});
