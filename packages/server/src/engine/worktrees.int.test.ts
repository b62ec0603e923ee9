import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultTools } from "@convoke/tool-host";
import { startTestServer, type TestServer } from "../testing/start-server.ts";

type Info = {
  readonly id: string;
  readonly workspace: { readonly working_dir: string };
  readonly worktree?: { readonly branch: string; readonly root: string; readonly base: string };
};

/** Of conversations at once; more with `CONVOKE_EVERY_CASE=1`. */
const many = process.env["CONVOKE_EVERY_CASE"] === "1" ? 24 : 5;

async function openServer(turns: object[] = [{ text: "Done." }]): Promise<TestServer> {
  return await startTestServer({
    script: { turns, loop: true },
    tools: defaultTools(),
    environment: { PATH: process.env["PATH"] ?? "" },
  });
}

function git(directory: string, ...args: string[]): string {
  const identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
  return execFileSync("git", ["-C", directory, ...identity, ...args], { encoding: "utf8" }).trim();
}

/** A repository with a folder, a hook and a filter that leave a mark where they run. */
function makeRepository(server: TestServer): string {
  const repository = join(server.workspaceDir, "project");
  mkdirSync(join(repository, "deep"), { recursive: true });
  git(repository, "init", "--quiet", "-b", "main");
  writeFileSync(join(repository, "deep", "a.txt"), "first");
  writeFileSync(join(repository, ".gitattributes"), "*.txt filter=mark\n");
  git(repository, "add", ".");
  git(repository, "commit", "--quiet", "-m", "first");
  const mark = `touch ${join(server.folder, "ran")}`;
  writeFileSync(join(repository, ".git", "hooks", "post-checkout"), `#!/bin/sh\n${mark}\n`, { mode: 0o755 });
  git(repository, "config", "filter.mark.smudge", `sh -c '${mark}; cat'`);
  return repository;
}

async function create(server: TestServer, more: object): Promise<Info> {
  const reply = await server.call("POST", "/api/conversations", { ...server.startRequest(), ...more });
  expect(reply.status, reply.text).toBe(201);
  return reply.json as Info;
}

test("a conversation works in a worktree of its own; it goes with the last fork, its branch and uncommitted work stay", async () => {
  const write = (id: string, command: string) => ({
    tool_calls: [{ id, name: "terminal", arguments: { command } }],
  });
  await using server = await openServer([write("a", "pwd; echo more > b.txt"), { text: "Done." }]);
  const repository = makeRepository(server);
  const { id, workspace, worktree } = await create(server, {
    workspace: { kind: "LocalWorkspace", working_dir: join(repository, "deep") },
    worktree: true,
    text: undefined,
  });
  expect(worktree).toMatchObject({ branch: `openhands/${id}`, base: git(repository, "rev-parse", "main") });
  expect(workspace.working_dir).toBe(join(worktree!.root, "deep"));
  expect(readFileSync(join(workspace.working_dir, "a.txt"), "utf8")).toBe("first");
  expect(git(workspace.working_dir, "branch", "--show-current")).toBe(`openhands/${id}`);
  // Nothing that the repository names has run.
  expect(existsSync(join(server.folder, "ran"))).toBe(false);

  await server.client.sendMessage(id, { content: [{ type: "text", text: "Go" }], run: true });
  await server.waitForStatus(id, "finished");
  expect(existsSync(join(workspace.working_dir, "b.txt"))).toBe(true);
  expect(existsSync(join(repository, "deep", "b.txt"))).toBe(false);
  const [prompt] = (await server.events(id)) as unknown as { dynamic_context?: { text: string } }[];
  expect(prompt?.dynamic_context?.text).toContain(`openhands/${id}`);

  await server.restart();
  const fork = (await server.call("POST", `/api/conversations/${id}/fork`, {})).json as Info;
  expect(fork.workspace).toEqual(workspace);
  expect((await server.call("DELETE", `/api/conversations/${id}`)).status).toBe(200);
  expect(existsSync(workspace.working_dir)).toBe(true);
  git(workspace.working_dir, "add", ".");
  git(workspace.working_dir, "commit", "--quiet", "-m", "second");
  expect((await server.call("DELETE", `/api/conversations/${fork.id}`)).status).toBe(200);
  expect(existsSync(worktree!.root)).toBe(false);
  expect(git(repository, "log", "-1", "--format=%s", `openhands/${id}`)).toBe("second");

  const dirty = await create(server, {
    workspace: { kind: "LocalWorkspace", working_dir: repository },
    worktree: true,
  });
  writeFileSync(join(dirty.workspace.working_dir, "new.txt"), "not committed");
  await server.call("DELETE", `/api/conversations/${dirty.id}`);
  expect(existsSync(join(dirty.workspace.working_dir, "new.txt"))).toBe(true);
});

test("P18: one id, created many times at once, has one worktree; where it begins can be chosen", async () => {
  await using server = await openServer();
  const repository = makeRepository(server);
  git(repository, "checkout", "--quiet", "-b", "other");
  git(repository, "commit", "--quiet", "--allow-empty", "-m", "on other");
  const id = "00000000-0000-4000-8000-00000000000a";
  const workspace = { kind: "LocalWorkspace", working_dir: repository };
  const body = { ...server.startRequest(), workspace, worktree: true, conversation_id: id };
  const options = { base: "head", branch_prefix: "agents/" };
  const replies = await Promise.all(
    Array.from({ length: 8 }, () =>
      server.call("POST", "/api/conversations", { ...body, worktree_options: options }),
    ),
  );
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(git(repository, "worktree", "list").split("\n")).toHaveLength(2);
  const { worktree } = replies[0]!.json as Info;
  expect(worktree).toMatchObject({
    branch: `agents/${id}`,
    base: git(repository, "rev-parse", "HEAD"),
  });
  const named = await create(server, {
    workspace,
    worktree: true,
    worktree_options: { base: "ref", ref: "main" },
  });
  expect(named.worktree?.base).toBe(git(repository, "rev-parse", "main"));
  for (const ref of ["gone", null, "-x"]) {
    const refused = await server.call("POST", "/api/conversations", {
      ...server.startRequest(),
      workspace,
      worktree: true,
      worktree_options: { base: "ref", ref },
    });
    expect(refused).toMatchObject({
      status: 422,
      json: { detail: [{ loc: expect.arrayContaining(["body", "worktree_options", "ref"]) }] },
    });
  }
});

test("P18: many conversations at once in one repository have a worktree each, also where one was made before and its folder taken away", async () => {
  await using server = await openServer();
  const repository = makeRepository(server);
  const workspace = { kind: "LocalWorkspace", working_dir: repository };
  const made = await Promise.all(
    Array.from({ length: many }, () => create(server, { workspace, worktree: true })),
  );
  expect(new Set(made.map(({ worktree }) => worktree!.root)).size).toBe(many);
  expect(git(repository, "worktree", "list").split("\n")).toHaveLength(many + 1);

  const { id, worktree } = made[0]!;
  rmSync(worktree!.root, { recursive: true });
  await server.call("DELETE", `/api/conversations/${id}`);
  const again = await create(server, { workspace, worktree: true, conversation_id: id });
  expect(again.worktree).toEqual(worktree);
  expect(existsSync(join(worktree!.root, "deep", "a.txt"))).toBe(true);
});

test("a folder in no repository, and a repository without a commit, are worked in as they are, and that is told", async () => {
  await using server = await openServer();
  const empty = join(server.workspaceDir, "empty");
  mkdirSync(empty);
  git(empty, "init", "--quiet");
  for (const working_dir of [join(server.workspaceDir, "plain"), empty]) {
    const workspace = { kind: "LocalWorkspace", working_dir };
    const { id, ...info } = await create(server, { workspace, worktree: true });
    expect(info).toMatchObject({ workspace });
    expect(info.worktree).toBeUndefined();
    await server.client.sendMessage(id, { content: [{ type: "text", text: "Go" }], run: true });
    await server.waitForStatus(id, "finished");
    expect(await server.events(id)).toContainEqual(
      expect.objectContaining({
        key: "warning",
        value: expect.objectContaining({ code: "worktree_unavailable" }) as unknown,
      }),
    );
  }
});
