import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type Reply, type TestServer } from "../../../testing/start-server.ts";

const nobody = "00000000-0000-4000-8000-000000000000";

let server: TestServer;
let strangerKey = "";
let id = "";
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Done." }], loop: true } });
  await using keys = await server.openKeys();
  strangerKey = (await keys.store.create("bob", "")).key;
  id = await server.runTo("finished", "begin");
});
afterAll(() => server[Symbol.asyncDispose]());

const asStranger = (method: string, path: string, body?: unknown): Promise<Reply> =>
  server.call(method, path, body, { "X-Session-API-Key": strangerKey });

test("prepare_for_sandbox_pause: 204, everything is on the disk", async () => {
  const path = "/api/conversations/prepare-for-sandbox-pause";
  expect(await server.call("POST", path)).toMatchObject({ status: 204, text: "" });
  expect(await server.call("POST", path, {})).toMatchObject({ status: 204 });
});

describe("the machine of a conversation", () => {
  const below = (path: string, of = id): string => `/api/conversations/${of}${path}`;

  test("it is there for the conversation's owner alone", async () => {
    const there = { status: 200, json: { runtime_status: "available", can_resume: true } };
    expect(await server.call("GET", below("/runtime"))).toMatchObject(there);
    expect(await server.call("POST", below("/runtime/reprovision"))).toMatchObject(there);
    for (const path of ["/runtime", "/vscode/status", "/bash/bash_events/search"]) {
      expect(await asStranger("GET", below(path))).toMatchObject({ status: 404 });
      expect(await server.call("GET", below(path, nobody))).toMatchObject({ status: 404 });
      expect(await server.call("GET", below(path, "nonsense"))).toMatchObject({ status: 422 });
    }
    expect(await server.call("GET", below("/vscode/status"))).toMatchObject({ json: { enabled: false } });
  });

  test("its files are those below its directory", async () => {
    const file = join(server.workspaceDir, "deep", "a.txt");
    await mkdir(join(server.workspaceDir, "deep"), { recursive: true });
    await writeFile(file, "content");
    const read = (path: string): Promise<Reply> =>
      server.call("GET", below(`/file/download?path=${encodeURIComponent(path)}`));
    expect(await read(file)).toMatchObject({ status: 200, text: "content" });
    for (const path of [
      "/etc/passwd",
      "deep/a.txt",
      join(server.workspaceDir, "../data/x"),
      `${server.workspaceDir}x`,
    ]) {
      expect(await read(path)).toMatchObject({
        status: 422,
        json: { detail: [{ loc: ["query", "path"] }] },
      });
    }
    const made = await server.call("POST", below(`/file/create_directory?path=${server.workspaceDir}/made`));
    expect(made.status, made.text).toBe(200);
    const changes = await server.call("GET", below(`/git/changes?path=${server.workspaceDir}`));
    expect(changes, changes.text).toMatchObject({ status: 200, json: [] });
  });

  test("its trajectory is its own", async () => {
    const own = await server.call("GET", below(`/file/download-trajectory/${id}`));
    expect(own.headers.get("content-type")).toBe("application/zip");
    expect(await server.call("GET", below(`/file/download-trajectory/${nobody}`))).toMatchObject({
      status: 422,
      json: { detail: [{ loc: ["path", "conversation_id"] }] },
    });
  });
});

test("children: a new conversation with its parent's configuration does the task", async () => {
  const path = `/api/conversations/${id}/children`;
  const begun = await server.call("POST", path, { task: "Look.", title: "Child" });
  expect(begun.status, begun.text).toBe(201);
  expect(begun.json).toMatchObject({
    parent_conversation_id: id,
    title: "Child",
    workspace: server.workspaceDir,
    isolation: "shared",
  });
  const { conversation_id: child } = begun.json as { conversation_id: string };
  const info = await server.waitForStatus(child, "finished");
  expect(info).toMatchObject({ parent_conversation_id: id, title: "Child" });
  expect(server.model.requests.at(-1)!.text).toContain("Look.");
  expect(await server.call("POST", path, { task: "" })).toMatchObject({ status: 422 });
  expect(await asStranger("POST", path, { task: "Look." })).toMatchObject({ status: 404 });
});

test("meta profiles are stored, and say that nothing routes by them", async () => {
  const path = "/api/meta-profiles";
  const profile = {
    classifier_model: "quick",
    classes: [{ description: "Short questions.", model: "quick" }],
    prompt_template: null,
    model_table: null,
  };
  expect(await server.call("POST", `${path}/mine`, profile)).toMatchObject({ status: 201 });
  expect(await server.call("POST", `${path}/idle`, { classifier_model: "quick" })).toMatchObject({
    status: 422,
  });
  expect((await server.call("GET", path)).json).toEqual({
    meta_profiles: [{ name: "mine", classifier_model: "quick", num_classes: 1 }],
    active_meta_profile: null,
  });
  expect((await server.call("GET", `${path}/mine`)).json).toEqual({ name: "mine", config: profile });
  expect((await server.call("POST", `${path}/mine/activate`)).json).toMatchObject({ applied: false });
  expect((await asStranger("GET", path)).json).toMatchObject({ meta_profiles: [] });
  expect(await server.call("DELETE", `${path}/mine`)).toMatchObject({ status: 200 });
  for (const [method, name] of [
    ["GET", "mine"],
    ["POST", "mine/activate"],
  ] as const) {
    expect(await server.call(method, `${path}/${name}`)).toMatchObject({
      status: 404,
      json: { code: "profile_not_found" },
    });
  }
});

test("catalogues: tools and skills to choose from, and no repositories", async () => {
  const { tools } = (await server.call("GET", "/api/tools/catalog")).json as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toEqual((await server.call("GET", "/api/tools/")).json);
  expect(tools.find(({ name }) => name === "terminal")).toMatchObject({ in_default_set: true, usable: true });
  expect((await server.call("GET", "/api/skills/catalog")).json).toMatchObject({
    skills: expect.any(Array) as [],
  });
  const search = "/api/git/repositories/search";
  expect((await server.call("GET", `${search}?provider=github`)).json).toEqual({
    items: [],
    next_page_id: null,
    missing_token: true,
  });
  expect(await server.call("GET", `${search}?provider=elsewhere`)).toMatchObject({ status: 422 });
});

test("server_info_names_tools_and_versions: what agents can ask for, and what is true of newer names", async () => {
  const info = (await server.call("GET", "/server_info")).json;
  expect(info).toMatchObject({
    version: "1.58.2",
    sdk_version: "1.58.2",
    usable_tools: (await server.call("GET", "/api/tools/")).json,
    capabilities: expect.arrayContaining(["tool_catalog_v1"]) as string[],
  });
  expect((await server.call("GET", "/health")).json).toEqual({ status: "ok" });
  expect(await server.call("GET", "/health", undefined, { accept: "text/plain" })).toMatchObject({
    text: "OK",
  });
});
