import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type Reply, type TestServer } from "../../../testing/start-server.ts";

const run = promisify(execFile);
const always = { confirmation_policy: { kind: "AlwaysConfirm" } } as const;

let server: TestServer;
let id = "";
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Done." }], loop: true } });
  id = await server.runTo("finished", "begin");
  const git = (...parameters: string[]) =>
    run("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...parameters], {
      cwd: server.workspaceDir,
    });
  await git("init", "-q", "-b", "main");
  await writeFile(at("a.txt"), "one\n");
  await git("add", ".");
  await git("commit", "-q", "-m", "first");
});
afterAll(() => server[Symbol.asyncDispose]());

const at = (name: string): string => join(server.workspaceDir, name);
const restore = (body: unknown, headers?: Record<string, string>): Promise<Reply> =>
  server.call("POST", `/api/conversations/${id}/git/restore`, body, headers);

test("a changed file is what it was again, a new one is gone", async () => {
  await writeFile(at("a.txt"), "two\n");
  await mkdir(at("deep"));
  await writeFile(at("deep/new.txt"), "new\n");
  for (const path of [at("a.txt"), at("deep/new.txt")])
    expect(await restore({ path, ref: "HEAD" })).toMatchObject({ status: 200, json: { success: true } });
  expect(await readFile(at("a.txt"), "utf8")).toBe("one\n");
  await expect(readFile(at("deep/new.txt"))).rejects.toMatchObject({ code: "ENOENT" });
});

test("what is outside, of somebody else, or cannot be read is refused", async () => {
  await using keys = await server.openKeys();
  const { key } = await keys.store.create("bob", "");
  const path = at("a.txt");
  expect(await restore({ path }, { "X-Session-API-Key": key })).toMatchObject({ status: 404 });
  for (const outside of ["/etc/passwd", "a.txt", `${server.workspaceDir}/../x`])
    expect(await restore({ path: outside })).toMatchObject({
      status: 422,
      json: { detail: [{ loc: ["body", "path"] }] },
    });
  expect(await restore({ path, ref: "nowhere" })).toMatchObject({ status: 400, json: { code: "bad_ref" } });
  expect(await restore({ path, reff: "HEAD" })).toMatchObject({
    status: 422,
    json: { detail: [{ loc: ["body", "reff"] }] },
  });
});

test("messages cannot be withdrawn while the agent works, and all can while it waits", async () => {
  await using busy = await startTestServer({ script: { turns: [{ text: "x", delay_ms: 60_000 }] } });
  const working = await busy.runTo("running", "begin");
  const path = join(busy.workspaceDir, "a.txt");
  expect(await busy.call("POST", `/api/conversations/${working}/git/restore`, { path })).toMatchObject({
    status: 409,
    json: { code: "already_running" },
  });
  await using waiting = await startTestServer({
    script: { turns: [{ tool_calls: [{ name: "terminal", arguments: { command: "a" } }] }] },
  });
  const asking = await waiting.runTo("waiting_for_confirmation", "begin", always);
  const there = join(waiting.workspaceDir, "a.txt");
  expect(
    await waiting.call("POST", `/api/conversations/${asking}/git/restore`, { path: there }),
  ).toMatchObject({ status: 400, json: { code: "no_repository" } });
});

test("a folder is listed in pages, folders first; links that lead out are no way out", async () => {
  await mkdir(at("list/Zoo"), { recursive: true });
  for (const name of ["b.txt", "A.txt", "a.txt"]) await writeFile(at(`list/${name}`), name);
  await symlink("/etc", at("list/out"));
  const list = async (path: string, more = "") =>
    await server.call("GET", `/api/conversations/${id}/files?path=${encodeURIComponent(path)}${more}`);
  const names = async (more: string) => {
    const { items, next_page_id: next } = (await list(at("list"), more)).json as {
      items: { name: string; type: string; size: number | null }[];
      next_page_id: string | null;
    };
    return { shown: items.map(({ name, type, size }) => [name, type, size]), next };
  };
  const first = await names("&limit=2");
  expect(first.shown).toEqual([
    ["Zoo", "directory", null],
    ["A.txt", "file", 5],
  ]);
  const rest = await names(`&page_id=${encodeURIComponent(first.next!)}`);
  expect(rest).toEqual({
    shown: [
      ["a.txt", "file", 5],
      ["b.txt", "file", 5],
      ["out", "other", null],
    ],
    next: null,
  });
  expect(await list(at("list/out"))).toMatchObject({ status: 400, json: { code: "path_outside" } });
  expect(await list(at("list/a.txt"))).toMatchObject({ status: 400, json: { code: "not_a_directory" } });
  expect(await list(at("nowhere"))).toMatchObject({ status: 404, json: { code: "path_not_found" } });
  expect(await list("/etc")).toMatchObject({ status: 422, json: { detail: [{ loc: ["query", "path"] }] } });
});

test("a transcript is one text, one page, or a line for each event; only for the owner", async () => {
  const path = `/api/conversations/${id}/transcript`;
  const read = await server.call("GET", path);
  expect(read.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  expect(read.headers.get("content-disposition")).toContain(`${id}.md`);
  expect(read.text).toMatch(/## User · .*\n\nbegin\n\n[^]*## Agent · .*\n\nDone\.\n/);
  const lines = (await server.call("GET", `${path}?format=jsonl`)).text.trimEnd().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(
    (await server.events(id)).map((event) => event.id),
  );
  const page = await server.call("GET", `${path}?format=html`);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("content-disposition")).toContain(`${id}.html`);
  expect(page.text).toMatch(/^<!doctype html>[^]*<p>begin<\/p>[^]*<p>Done\.<\/p>[^]*<\/html>\n$/);
  expect((await server.call("GET", `${path}?format=pdf`)).status).toBe(422);
  await using keys = await server.openKeys();
  const { key } = await keys.store.create("eve", "");
  expect((await server.call("GET", path, undefined, { "X-Session-API-Key": key })).status).toBe(404);
});
