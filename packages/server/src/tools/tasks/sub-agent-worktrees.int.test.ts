import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { allowedEnvironment, createInProcessHost, defaultTools } from "@convoke/tool-host";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { silentLogger } from "../../lib/logger.ts";
import { checkLeaksAfterEach } from "../../testing/check-leaks.ts";
import type { ScriptTurn } from "../../testing/scripted-model/script.ts";
import { startScriptedModel } from "../../testing/scripted-model/scripted-model-server.ts";
import { ServerProcess } from "../../testing/server-process.ts";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { until } from "../../testing/until.ts";
import { RepositoryQueues } from "../worktrees/repository-queues.ts";
import { Worktrees } from "../worktrees/worktrees.ts";
import { TaskWorktrees } from "../worktrees/task-worktrees.ts";

/** With `CONVOKE_EVERY_CASE=1`: a crash between steps is by day that of two sub-agents at work. */
const testAtNight = test.runIf(process.env["CONVOKE_EVERY_CASE"] === "1");

checkLeaksAfterEach();

const order = "Have the parts made.";
const call = (name: string, given: object) => ({ name, arguments: { ...given } });
const task = (prompt: string, more: object = {}) => call("task", { prompt, description: prompt, ...more });
const run = (command: string) => call("terminal", { command });
const toParent = { match: { last_user_contains: order } };

function git(directory: string, ...args: string[]): string {
  const identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
  return execFileSync("git", ["-C", directory, ...identity, ...args], { encoding: "utf8" }).trim();
}

function makeRepository(folder: string): string {
  const repository = join(folder, "project");
  mkdirSync(join(repository, "deep"), { recursive: true });
  git(repository, "init", "--quiet", "-b", "main");
  writeFileSync(join(repository, "shared.txt"), "first\n");
  writeFileSync(join(repository, "deep", "kept.txt"), "kept\n");
  git(repository, "add", ".");
  git(repository, "commit", "--quiet", "-m", "first");
  return repository;
}

/** What a sub-agent does that was told `prompt`: one command, then its report. */
function child(prompt: string, command: string): ScriptTurn[] {
  const match = { last_user_contains: prompt };
  return [
    { match, tool_calls: [run(command)] },
    { match, tool_calls: [call("finish", { message: `Done: ${prompt}` })] },
  ];
}

function agentWith(server: TestServer, worktrees: boolean) {
  const { agent } = server.startRequest();
  return { ...agent, tools: [{ name: "terminal" }, { name: "task_tool_set", params: { worktrees } }] };
}

async function open(turns: ScriptTurn[]): Promise<TestServer> {
  return await startTestServer({
    script: { turns },
    tools: defaultTools(),
    environment: { PATH: process.env["PATH"] ?? "" },
  });
}

async function reports(server: TestServer, id: string): Promise<{ taskId: string; text: string }[]> {
  return (await server.events(id)).flatMap((event) => {
    if (event.kind !== "ObservationEvent" || event.tool_name !== "task") return [];
    const { task_id: taskId, content } = event.observation as unknown as {
      task_id: string;
      content: { text: string }[];
    };
    return [{ taskId, text: content.map(({ text }) => text).join("\n") }];
  });
}

test("issue 11.5: sub-agents at once work each in a worktree, and all that they changed is merged into the workspace", async () => {
  await using server = await open([
    { ...toParent, tool_calls: [task("Make one."), task("Make two."), task("Look around.")] },
    {
      ...toParent,
      tool_calls: [run("cat ../one.txt two.txt ../shared.txt && git status --porcelain && pwd")],
    },
    { ...toParent, tool_calls: [call("finish", { message: "Made." })] },
    ...child("Make one.", "pwd && echo one > ../one.txt && echo more >> ../shared.txt"),
    ...child("Make two.", "echo two > two.txt && git add . && git commit -qm two 2>/dev/null; ls .."),
    ...child("Look around.", "ls"),
  ]);
  const repository = makeRepository(server.folder);
  const { id } = await server.createConversation({
    text: order,
    agent: agentWith(server, true),
    workspace: { kind: "LocalWorkspace", working_dir: join(repository, "deep") },
  });
  await server.waitForStatus(id, "finished", 180_000);
  const reported = await reports(server, id);
  expect(reported.map(({ text }) => text.split("\n").at(-1) ?? "").toSorted()).toEqual([
    "It changed no file.",
    `Its changes are merged into ${repository}: deep/two.txt.`,
    `Its changes are merged into ${repository}: one.txt, shared.txt.`,
  ]);
  const seen = (await server.events(id)).find(
    (event) => event.kind === "ObservationEvent" && event.tool_name === "terminal",
  );
  expect(JSON.stringify(seen)).toContain(`one\\ntwo\\nfirst\\nmore\\n${repository}/deep`);
  expect(git(repository, "branch", "--format=%(refname:short)")).not.toContain("openhands/");
  expect(git(repository, "log", "--format=%s")).toContain("Make one.");
  const [info] = await Promise.all(reported.map(({ taskId }) => server.client.getConversation(taskId)));
  expect(info!.workspace.working_dir).toMatch(/project\/deep$/);
  expect(info!.workspace.working_dir).not.toContain(repository);
  const root = join(info!.workspace.working_dir, "..");
  expect(existsSync(root)).toBe(true);
  await server.call("DELETE", `/api/conversations/${id}`);
  expect(existsSync(root)).toBe(false);
});

test("issue 11.5: what cannot be merged is told by its files, stays on its branch, and harms nothing of the parent's", async () => {
  const turns: ScriptTurn[] = [
    { ...toParent, tool_calls: [run("echo mine > shared.txt")] },
    { ...toParent, tool_calls: [task("Change the shared one.")] },
    { ...toParent, tool_calls: [run("git commit -qam mine")] },
    { ...toParent, tool_calls: [task("Break down.")] },
    { ...toParent, tool_calls: [call("finish", { message: "So it is." })] },
    ...child("Change the shared one.", "echo theirs > shared.txt && echo new > new.txt"),
    { match: { last_user_contains: "Break down." }, tool_calls: [run("echo half > half.txt")] },
    { match: { last_user_contains: "Break down." }, error: { status: 401, message: "no such key" } },
  ];
  await using server = await open(turns);
  const repository = makeRepository(server.folder);
  git(repository, "config", "user.name", "T");
  git(repository, "config", "user.email", "t@example.org");
  const { id } = await server.createConversation({
    text: order,
    agent: agentWith(server, true),
    workspace: { kind: "LocalWorkspace", working_dir: repository },
  });
  await server.waitForStatus(id, "finished", 180_000);
  const [inTheWay, broken] = await reports(server, id);
  const branch = `openhands/${inTheWay!.taskId}`;
  expect(inTheWay!.text).toContain("Done: Change the shared one.");
  expect(inTheWay!.text).toContain(`on the branch ${branch}`);
  expect(inTheWay!.text).toContain("changes of your own that are not committed in shared.txt");
  expect(git(repository, "show", `${branch}:new.txt`)).toBe("new");
  expect(broken!.text).toContain("no such key");
  expect(broken!.text).toContain("It changed half.txt. They are committed on the branch");
  expect(git(repository, "show", `openhands/${broken!.taskId}:half.txt`)).toBe("half");

  const again = "Try it once more.";
  const more = { match: { last_user_contains: again } };
  const mend = "Take mine and merge.";
  turns.push(
    { ...more, tool_calls: [task("Only look.", { resume: inTheWay!.taskId })] },
    { ...more, tool_calls: [task(mend, { resume: inTheWay!.taskId })] },
    { ...more, tool_calls: [task("Once more.", { resume: inTheWay!.taskId })] },
    { ...more, tool_calls: [call("finish", { message: "Now it is." })] },
    ...child("Only look.", "ls"),
    ...child(mend, "git merge -q main; echo both > shared.txt; git commit -qam both; git status --porcelain"),
    ...child("Once more.", "git log --format=%s -1 && echo last > last.txt"),
  );
  await server.client.sendMessage(id, { content: [{ type: "text", text: again }], run: true });
  await server.waitForStatus(id, "finished", 180_000);
  const [conflict, mended, renewed] = (await reports(server, id)).slice(2);
  expect(conflict!.text).toContain("there are conflicts in shared.txt.");
  expect(conflict!.text).toContain(branch);
  expect(mended!.text).toContain(`Its changes are merged into ${repository}: new.txt, shared.txt.`);
  expect(renewed!.text).toContain(`Its changes are merged into ${repository}: last.txt.`);
  expect(readFileSync(join(repository, "shared.txt"), "utf8")).toBe("both\n");
  expect(git(repository, "status", "--porcelain")).toBe("");
  expect(git(repository, "branch", "--format=%(refname:short)").split("\n")).toEqual([
    "main",
    `openhands/${broken!.taskId}`,
  ]);
});

test("issue 11.5: a repository whose configuration starts programs is not merged into, and none of them is started; without one there is no worktree", async () => {
  await using server = await open([
    { ...toParent, tool_calls: [task("Make one.", { subagent_type: "maker" })] },
    { ...toParent, tool_calls: [call("finish", { message: "Made." })] },
    ...child("Make one.", "echo one > one.txt"),
  ]);
  const begin = async (workingDir: string): Promise<string> => {
    const { id } = await server.createConversation({
      text: order,
      agent: agentWith(server, false),
      agent_definitions: [{ name: "maker", tools: ["terminal"], worktree: true }],
      workspace: { kind: "LocalWorkspace", working_dir: workingDir },
    });
    await server.waitForStatus(id, "finished", 180_000);
    return (await reports(server, id))[0]!.text;
  };
  const repository = makeRepository(server.folder);
  const mark = join(server.folder, "ran");
  const included = join(server.folder, "included");
  writeFileSync(included, `[merge "mine"]\n\tdriver = touch ${mark}; false\n`);
  git(repository, "config", "include.path", included);
  git(repository, "config", "filter.mark.clean", `touch ${mark}; cat`);
  writeFileSync(join(repository, ".git", "info", "attributes"), "*.txt filter=mark merge=mine\n");
  for (const hook of ["pre-commit", "post-merge", "post-checkout", "pre-merge-commit"])
    writeFileSync(join(repository, ".git", "hooks", hook), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  const text = await begin(repository);
  expect(text).toContain("It changed one.txt.");
  expect(text).toContain("sends files through programs");
  expect(existsSync(mark)).toBe(false);
  expect(existsSync(join(repository, "one.txt"))).toBe(false);

  const plain = join(server.folder, "plain");
  mkdirSync(plain);
  expect(await begin(plain)).toMatch(/Done: Make one\.$/);
  expect(existsSync(join(plain, "one.txt"))).toBe(true);
});

testAtNight(
  "issue 11.5, P6: whatever step was the last before a crash, the next ones follow when it is all made again",
  async () => {
    await using folder = await openTemporaryDirectory();
    const repository = makeRepository(folder.path);
    await using host = createInProcessHost({ tools: [], environment: allowedEnvironment(process.env) });
    const queues = new RepositoryQueues();
    const made = await new Worktrees(silentLogger, queues).make(host, {
      conversationId: "task",
      workingDir: repository,
      parentDir: join(folder.path, "worktrees"),
      options: { base: "head" },
      nowMicros: 0,
    });
    const worktree = made.worktree!;
    const finish = async (mayMerge = true) =>
      await new TaskWorktrees(queues).finish(host, { worktree, title: "Work", mayMerge });
    const merged = `Its changes are merged into ${repository}`;
    const { root, branch } = worktree;

    writeFileSync(join(root, "a.txt"), "a");
    expect(await finish(false)).toContain(`It changed a.txt. They are committed on the branch ${branch}`);
    expect(await finish()).toBe(`${merged}: a.txt.`);
    expect(await finish()).toBe(`${merged}.`);

    // Merged, and its branch still there.
    await new TaskWorktrees(queues).renew(host, worktree);
    writeFileSync(join(root, "b.txt"), "b");
    await finish(false);
    git(repository, "merge", "--quiet", branch);
    expect(await finish()).toBe(`${merged}.`);
    expect(git(repository, "branch", "--format=%(refname:short)")).toBe("main");

    // Committed by itself, away from every branch; nothing is lost where it cannot be merged, nor when it goes on.
    writeFileSync(join(root, "c.txt"), "c");
    git(root, "add", ".");
    git(root, "commit", "--quiet", "-m", "c");
    expect(await finish(false)).toContain(`It changed c.txt. They are committed on the branch ${branch}`);
    git(repository, "branch", "--quiet", "-D", branch);
    await new TaskWorktrees(queues).renew(host, worktree);
    expect(git(root, "log", "-1", "--format=%s %D")).toBe(`c HEAD -> ${branch}`);

    // A merge of its own that it did not finish.
    writeFileSync(join(repository, "c.txt"), "of the parent");
    git(repository, "add", ".");
    git(repository, "commit", "--quiet", "-m", "mine");
    expect(() => git(root, "merge", "--quiet", "main")).toThrow();
    expect(await finish()).toContain("conflicts in c.txt. Nothing was merged.");
    git(root, "merge", "--abort");
    writeFileSync(join(repository, "open.txt"), "of a person");
    expect(await finish()).toContain("there are conflicts in c.txt.");
    expect(git(repository, "status", "--porcelain")).toBe("?? open.txt");
    writeFileSync(join(root, "open.txt"), "of the sub-agent");
    git(root, "reset", "--quiet", "--hard", "main");
    writeFileSync(join(root, "open.txt"), "of the sub-agent");
    expect(await finish()).toContain("not committed in open.txt.");
    expect(readFileSync(join(repository, "open.txt"), "utf8")).toBe("of a person");
    rmSync(root, { recursive: true });
    expect(await finish()).toContain("cannot be read");
  },
);

test("issue 11.5, P6: kill -9 while two sub-agents work in worktrees: both go on where they were, and both are merged", async () => {
  await using folder = await openTemporaryDirectory();
  const repository = makeRepository(folder.path);
  const parts = ["one", "two"];
  await using model = await startScriptedModel({
    script: {
      turns: [
        { ...toParent, tool_calls: parts.map((part) => task(`Make ${part}.`)) },
        { ...toParent, tool_calls: [call("finish", { message: "Made." })] },
        ...parts.flatMap((part): ScriptTurn[] => {
          const match = { last_user_contains: `Make ${part}.` };
          return [
            { match, tool_calls: [run(`echo ${part} >> ${part}.txt`)] },
            { match, tool_calls: [run(`echo still >> ${part}.txt`)], hang: true, attempts: 1 },
            { match, tool_calls: [call("finish", { message: `Made ${part}.` })] },
          ];
        }),
      ],
    },
  });
  const id = "44444444-4444-4444-8444-444444444444";
  const dataDir = join(folder.path, "data");
  await using first = await ServerProcess.start({ dataDir });
  await first.client.startConversation({
    conversation_id: id,
    agent: {
      kind: "Agent",
      llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key" },
      tools: [{ name: "task_tool_set", params: { worktrees: true } }],
    },
    workspace: { kind: "LocalWorkspace", working_dir: repository },
    initial_message: { content: [{ type: "text", text: order }], run: true },
  });
  // One request of the parent, two of each sub-agent, the last of which hangs.
  await until(() => model.requests.length >= 5);
  await first.kill();

  await using second = await ServerProcess.start({ dataDir, port: first.port });
  await until(async () => (await second.client.getConversation(id)).execution_status === "finished");
  for (const part of parts) {
    expect(readFileSync(join(repository, `${part}.txt`), "utf8")).toBe(`${part}\nstill\n`);
  }
  expect(git(repository, "branch", "--format=%(refname:short)")).toBe("main");
  const { items } = await second.client.searchEvents(id, { kind: "ObservationEvent" });
  for (const part of parts)
    expect(JSON.stringify(items)).toContain(`merged into ${repository}: ${part}.txt.`);
});
