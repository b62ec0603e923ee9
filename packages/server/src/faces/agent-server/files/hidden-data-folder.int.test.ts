import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import type { CreatedKey } from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const run = promisify(execFile);
const canary = "canary-of-the-data-folder";

let server: TestServer;
let key = "";
let conversation = "";
beforeAll(async () => {
  server = await startTestServer();
  // Its own key belongs to an admin.
  const made = await server.call("POST", "/api/keys", { role: "member" });
  key = (made.json as CreatedKey).key;
  await mkdir(join(server.dataDir, "repository"));
  for (const name of ["session-api-key", "repository/note"])
    await writeFile(join(server.dataDir, name), `${canary}\n`);
  await run("git", ["init", "--quiet", join(server.dataDir, "repository")]);
  // A repository around the data folder that tracks nothing of it yet.
  await run("git", ["init", "--quiet", server.folder]);
  const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  await run("git", ["-C", server.folder, ...author, "commit", "--quiet", "--allow-empty", "-m", "one"]);
  await symlink(server.dataDir, join(server.workspaceDir, "link"));
  const workspace = { kind: "LocalWorkspace" as const, working_dir: server.folder };
  conversation = (await server.createConversation({ workspace })).id;
});
afterAll(() => server[Symbol.asyncDispose]());

async function get(path: string): Promise<{ readonly status: number; readonly text: string }> {
  const reply = await fetch(`${server.url}${path}`, { headers: { "X-Session-API-Key": key } });
  const bytes = Buffer.from(await reply.arrayBuffer());
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return { status: reply.status, text: (isPacked ? gunzipSync(bytes) : bytes).toString("latin1") };
}

test("the canary is there, and files beside the data folder are served", async () => {
  expect(await readFile(join(server.dataDir, "session-api-key"), "utf8")).toContain(canary);
  await writeFile(join(server.workspaceDir, "mine.txt"), "mine");
  const path = encodeURIComponent(join(server.workspaceDir, "mine.txt"));
  expect(await get(`/api/file/download?path=${path}`)).toEqual({ status: 200, text: "mine" });
});

test("no route that reads a file or folder by its path serves the data folder", async () => {
  const { dataDir, workspaceDir } = server;
  const files = [
    join(dataDir, "session-api-key"),
    join(workspaceDir, "../data/session-api-key"),
    join(workspaceDir, "link/session-api-key"),
    `/proc/self/root${dataDir}/session-api-key`,
    `/proc/${process.pid}/environ`,
    "/proc/self/environ",
    "/proc/thread-self/environ",
  ];
  const folders = [dataDir, join(dataDir, "repository"), join(workspaceDir, "link")];
  const of = `/api/conversations/${conversation}`;
  const paths = [
    ...files.flatMap((file) => [
      `/api/file/download?path=${encodeURIComponent(file)}`,
      `/api/file/download/${encodeURIComponent(file)}`,
    ]),
    ...folders.flatMap((folder) => {
      const path = encodeURIComponent(folder);
      return [
        `/api/file/archive?path=${path}`,
        `/api/file/search_subdirs?path=${path}`,
        `/api/git/changes?path=${path}`,
        `/api/git/diff?path=${encodeURIComponent(join(folder, "note"))}`,
        `/api/git/commits?path=${path}`,
        `${of}/files?path=${path}`,
      ];
    }),
    `${of}/workspace/data/session-api-key`,
    `${of}/workspace/work/link/session-api-key`,
  ];
  for (const path of paths) {
    const { status, text } = await get(path);
    expect(text, path).not.toContain(canary);
    expect([400, 403, 404], `${path}: ${status} ${text.slice(0, 200)}`).toContain(status);
  }
});

test("what is made of a folder around the data folder leaves it out", async () => {
  await writeFile(join(server.workspaceDir, "mine.txt"), "mine");
  const path = encodeURIComponent(server.folder);
  const of = `/api/conversations/${conversation}`;
  for (const address of [`/api/file/archive?path=${path}`, `${of}/file/archive?path=${path}`]) {
    const { status, text } = await get(address);
    expect([status, text.includes("mine.txt"), text.includes(canary)], address).toEqual([200, true, false]);
  }
});

test("the project of the page's demo stands there and is served, and nothing beside it", async () => {
  const home = join(server.dataDir, "conversations", conversation);
  await mkdir(join(home, "project"), { recursive: true });
  await writeFile(join(home, "project", "total.js"), "let index = 1;");
  await writeFile(join(home, "beside"), canary);
  const download = (path: string) =>
    get(`/api/conversations/${conversation}/file/download?path=${encodeURIComponent(path)}`);
  expect(await download(join(home, "project", "total.js"))).toEqual({ status: 200, text: "let index = 1;" });
  for (const path of ["beside", "project/../beside"])
    expect(await download(join(home, path))).toMatchObject({ status: 403 });
});

test("nothing is written there", async () => {
  const form = new FormData();
  form.append("file", new Blob(["overwritten"]), "session-api-key");
  const path = encodeURIComponent(join(server.dataDir, "session-api-key"));
  const upload = await fetch(`${server.url}/api/file/upload?path=${path}`, {
    method: "POST",
    headers: { "X-Session-API-Key": key },
    body: form,
  });
  expect(upload.status).toBe(403);
  const made = await server.call("POST", "/api/file/create_directory", undefined, {
    "X-Session-API-Key": key,
  });
  expect(made.status).toBeGreaterThanOrEqual(400);
  expect(await readFile(join(server.dataDir, "session-api-key"), "utf8")).toBe(`${canary}\n`);
});
