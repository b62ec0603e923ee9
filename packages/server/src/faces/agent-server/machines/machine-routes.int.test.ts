import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadOfficialClient } from "../../../testing/load-official-client.ts";
import { openMachineSurface, type MachineSurface } from "../../../testing/machine-surface.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

// Not by import: a worker loads it once for all its files, and those that open its sockets need it to be loaded like this.
const { FileClient, RemoteWorkspace } = await loadOfficialClient();

/** The same suite over the server's own machine and over one behind the wire, as sandboxes are. */
describe.each([
  ["this machine", false],
  ["a machine behind a tool host", true],
])("%s", (_name, isRemote) => {
  let machine: MachineSurface;
  beforeAll(async () => {
    machine = await openMachineSurface({ isRemote, secrets: { TOKEN: "canary-token-4711" } });
  });
  afterAll(() => machine[Symbol.asyncDispose]());
  const at = (...parts: string[]): string => join(machine.work, ...parts);
  const query = (path: string): string => `path=${encodeURIComponent(path)}`;

  describe("git", () => {
    test("W33: changes and both sides, with spaces, renames, deleted and binary files; nothing without a repository", async () => {
      expect((await machine.call("GET", `/api/git/changes?${query(at())}`)).json).toEqual([]);
      expect((await machine.call("GET", `/api/git/commits?${query(at())}`)).json).toEqual({
        commits: [],
        has_more: false,
      });
      await mkdir(at("repo"));
      const git = (...parameters: string[]) => machine.git("-C", "repo", ...parameters);
      await git("init", "-q", "-b", "main");
      await writeFile(at("repo", "a file.txt"), "one\n");
      await writeFile(at("repo", "gone.txt"), "gone\n");
      await writeFile(at("repo", "old name.txt"), "moved\n");
      await git("add", ".");
      await git("commit", "-q", "-m", "first");
      await git("mv", "old name.txt", "new name.txt");
      await git("rm", "-q", "gone.txt");
      await writeFile(at("repo", "a file.txt"), "two\n");
      await writeFile(at("repo", "binary"), Buffer.from([0, 1, 2]));
      const expected = [
        { status: "UPDATED", path: "a file.txt" },
        { status: "ADDED", path: "binary" },
        { status: "DELETED", path: "gone.txt" },
        { status: "ADDED", path: "new name.txt" },
        { status: "DELETED", path: "old name.txt" },
      ];
      const encoded = at("repo").split("/").map(encodeURIComponent).join("/");
      for (const url of [`/api/git/changes?${query(at("repo"))}`, `/api/git/changes/${encoded}`]) {
        expect((await machine.call("GET", url)).json).toEqual(expected);
      }
      const diff = async (name: string, more = "") =>
        (await machine.call("GET", `/api/git/diff?${query(at("repo", name))}${more}`)).json;
      expect(await diff("a file.txt")).toEqual({ modified: "two", original: "one" });
      expect(await diff("gone.txt")).toEqual({ modified: "", original: "gone" });
      expect(await diff("new name.txt")).toEqual({ modified: "moved", original: "" });
      expect(await diff("binary")).toMatchObject({ code: "not_text" });
      expect(await diff("never")).toMatchObject({ code: "path_not_found" });
      expect((await machine.call("GET", `/api/git/diff/${encoded}/a%20file.txt`)).json).toEqual({
        modified: "two",
        original: "one",
      });
      expect(await diff("a file.txt", "&ref=nowhere")).toMatchObject({ code: "bad_ref" });
      await git("add", ".");
      await git("commit", "-q", "-m", "second: with a | and é");
      const { json } = await machine.call("GET", `/api/git/commits?${query(at("repo"))}&limit=1`);
      const { commits, has_more: hasMore } = json as {
        commits: { sha: string; subject: string }[];
        has_more: boolean;
      };
      expect(hasMore).toBe(true);
      expect(commits).toMatchObject([{ subject: "second: with a | and é", author: "Test" }]);
      const { sha = "" } = commits[0] ?? {};
      const changes = await machine.call("GET", `/api/git/commits/${sha}/changes?${query(at("repo"))}`);
      expect(changes.json).toEqual(expected);
      expect(await diff("a file.txt", `&commit=${sha}`)).toEqual({ modified: "two", original: "one" });
      const unknown = await machine.call(
        "GET",
        `/api/git/commits/${"0".repeat(40)}/changes?${query(at("repo"))}`,
      );
      expect(unknown).toMatchObject({ status: 400, json: { code: "bad_ref" } });
      const outside = await machine.call("GET", `/api/git/commits/abcd/changes?${query(at())}`);
      expect(outside).toMatchObject({ status: 400, json: { code: "no_repository" } });
    });

    test("W33: an archive without a format is a patch of what changed, with the commits that it begins with", async () => {
      await mkdir(at("patched"));
      const git = (...parameters: string[]) => machine.git("-C", "patched", ...parameters);
      await git("init", "-q", "-b", "main");
      await writeFile(at("patched", "a.txt"), "one\n");
      await git("add", ".");
      await git("commit", "-q", "-m", "first");
      await writeFile(at("patched", "a.txt"), "two\n");
      await writeFile(at("patched", "new file.txt"), "new\n");
      const address = `/api/file/archive?${query(at("patched"))}`;
      const { status, bytes, headers } = await machine.call("GET", address);
      const text = bytes.toString("utf8");
      expect(status).toBe(200);
      expect(text).toContain("-one\n+two\n");
      expect(text).toContain("+++ b/new file.txt\t\n@@ -0,0 +1 @@\n+new\n");
      expect(headers.get("x-archive-base-commit")).toMatch(/^[0-9a-f]{40}$/);
      expect(headers.get("x-archive-head-commit")).toBe(headers.get("x-archive-base-commit"));
      expect(headers.get("x-archive-branch")).toBe("main");
      expect((await machine.call("GET", `${address}&base_ref=nope`)).json).toMatchObject({ code: "bad_ref" });
      const less = await machine.call("GET", `${address}&exclude=new*&exclude=x`);
      expect([less.status, less.bytes.toString("utf8").includes("new file")]).toEqual([200, false]);
      expect(less.bytes.toString("utf8")).toContain("+two\n");
      const withNul = `/api/file/archive?${query(at("project"))}&format=tar.gz&exclude=%00`;
      expect(await machine.call("GET", withNul)).toMatchObject({ status: 422 });
    });
  });

  test("changes against HEAD of a repository without a commit are all its files", async () => {
    await mkdir(at("unborn"));
    await machine.git("-C", "unborn", "init", "-q", "-b", "main");
    expect((await machine.call("GET", `/api/git/changes?${query(at("unborn"))}&ref=HEAD`)).json).toEqual([]);
    await writeFile(at("unborn", "new.txt"), "x");
    expect(await machine.call("GET", `/api/git/changes?${query(at("unborn"))}&ref=HEAD`)).toMatchObject({
      status: 200,
      json: [{ status: "ADDED", path: "new.txt" }],
    });
  });

  describe("commands", () => {
    const execute = async (body: object) => machine.call("POST", "/api/bash/execute_bash_command", body);

    test("run to their end, relative to the working directory, and are found again", async () => {
      await mkdir(at("sub"));
      const printed = await execute({ command: "pwd; echo canary-token-4711 >&2", cwd: "sub", timeout: 20 });
      expect(printed.json).toMatchObject({
        exit_code: 0,
        stdout: `${at("sub")}\n`,
        stderr: "<secret-hidden>\n",
        kind: "BashOutput",
      });
      const everything = await machine.call("GET", "/api/bash/bash_events/search");
      expect(JSON.stringify(everything.json)).not.toContain("canary-token-4711");
      // Without a text there is one output, its end; a busy machine may part what others print.
      const done = await execute({ command: ":", cwd: "sub", timeout: 20 });
      expect(done.json).toMatchObject({ exit_code: 0, stdout: null, stderr: null });
      const { id, command_id: commandId } = done.json as { id: string; command_id: string };
      const search = await machine.call("GET", `/api/bash/bash_events/search?command_id__eq=${commandId}`);
      expect(search.json).toMatchObject({
        items: [{ kind: "BashCommand", id: commandId, cwd: at("sub"), timeout: 20 }, done.json],
        next_page_id: null,
      });
      const dashed = commandId.replace(/(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
      expect(
        (
          await machine.call(
            "GET",
            `/api/bash/bash_events/search?command_id__eq=${dashed}&kind__eq=BashOutput&limit=1`,
          )
        ).json,
      ).toMatchObject({ items: [{ id }] });
      expect((await machine.call("GET", `/api/bash/bash_events/${id}`)).json).toEqual(done.json);
      expect(await machine.call("GET", "/api/bash/bash_events/nothing")).toMatchObject({
        status: 404,
        json: { code: "bash_event_not_found" },
      });
      const batch = await machine.call("GET", `/api/bash/bash_events/?ids=nothing&ids=${id}`);
      expect(batch.json).toEqual([null, done.json]);
      const cleared = await machine.call("DELETE", "/api/bash/bash_events");
      expect((cleared.json as { cleared_count: number }).cleared_count).toBeGreaterThanOrEqual(2);
      expect((await machine.call("GET", "/api/bash/bash_events/search")).json).toMatchObject({ items: [] });
    });

    test("a command is stopped by its id; one that is not there is a 404", async () => {
      const { json } = await machine.call("POST", "/api/bash/start_bash_command", { command: "sleep 63.1" });
      const { id } = json as { id: string };
      const stop = `/api/bash/bash_commands/${id}/stop`;
      expect(await machine.call("POST", stop)).toMatchObject({ status: 200, json: { success: true } });
      const ended = await machine.call("GET", `/api/bash/bash_events/search?command_id__eq=${id}`);
      expect(ended.json).toMatchObject({ items: [{}, { exit_code: -1 }] });
      expect(await machine.call("POST", stop)).toMatchObject({ status: 200 });
      expect(await machine.call("POST", "/api/bash/bash_commands/nothing/stop")).toMatchObject({
        status: 404,
        json: { code: "bash_event_not_found" },
      });
    });

    test.each([
      [{}, "command"],
      [{ command: "a\0b" }, "command"],
      [{ command: 7 }, "command"],
      [{ command: "x", timeout: 0 }, "timeout"],
      [{ command: "x", timeout: 1e9 }, "timeout"],
      [{ command: "x", timeout: "soon" }, "timeout"],
      [{ command: "x", cwd: "\0" }, "cwd"],
      [{ command: "x".repeat(200_000) }, "command"],
    ])("a bad request is a 422 that names the field: %#", async (body, field) => {
      for (const path of ["start_bash_command", "execute_bash_command"]) {
        const reply = await machine.call("POST", `/api/bash/${path}`, body);
        expect(reply.status).toBe(422);
        expect(reply.json).toMatchObject({ detail: [{ loc: ["body", field] }] });
      }
    });

    test("are seen on the socket as they go, started from it too, and replayed for who asks", async () => {
      await machine.call("DELETE", "/api/bash/bash_events");
      const address = `${machine.url}/sockets/bash-events?session_api_key=${machine.key}`;
      using socket = new TestSocket(address);
      expect(await socket.opened).toBe("open");
      socket.send({ command: "echo from the socket" });
      await socket.until((events) => events.some(({ exit_code: code }) => code === 0));
      const [command, ...outputs] = socket.events;
      expect(command).toMatchObject({ kind: "BashCommand", command: "echo from the socket", timeout: 300 });
      // A busy machine may part its output.
      expect(outputs.map(({ stdout }) => (stdout as string | null) ?? "").join("")).toBe("from the socket\n");
      const last = { kind: "BashOutput", stderr: null, exit_code: 0, order: outputs.length - 1 };
      expect(outputs.at(-1)).toMatchObject(last);
      const count = 1 + outputs.length;
      socket.send("no json");
      socket.send({ command: 1 });
      socket.send({ command: "x", timeout: -1 });
      socket.send(Buffer.from([1]));
      await socket.untilCount(count + 4);
      expect(socket.events.slice(count)).toMatchObject([
        { kind: "BashError", code: "invalid_json" },
        { kind: "BashError", code: "invalid_command" },
        { kind: "BashError", code: "validation" },
        { kind: "BashError", code: "binary_frame" },
      ]);
      using again = new TestSocket(`${address}&resend_mode=all`);
      await again.untilCount(count);
      expect(again.frames).toEqual(socket.frames.slice(0, count));
      using wrong = new TestSocket(`${machine.url}/sockets/bash-events?session_api_key=wrong`);
      expect(await wrong.opened).toBe(403);
      using late = new TestSocket(`${machine.url}/sockets/bash-events`);
      await late.opened;
      late.send({ type: "auth", session_api_key: "wrong" });
      expect(await late.closed).toMatchObject({ code: 4001 });
    });
  });

  test("the official client's workspace works unmodified", async () => {
    const workspace = new RemoteWorkspace({
      host: machine.url,
      workingDir: machine.work,
      apiKey: machine.key,
    });
    const ran = await workspace.executeCommand("echo hello; exit 4", machine.work, 20);
    expect(ran).toMatchObject({ exit_code: 4, stdout: "hello\n", stderr: "" });
    const path = at("by client.txt");
    expect(await workspace.fileUpload("text of the client", path)).toMatchObject({ success: true });
    expect(await workspace.downloadAsText(path)).toBe("text of the client");
    expect(await workspace.gitChanges(at())).toBeInstanceOf(Array);
    expect(await workspace.gitDiff(path)).toEqual({ modified: null, original: null });
    const { command_id: commandId } = (await workspace.bash.executeCommand(":")) as {
      command_id: string;
    };
    const { items } = await workspace.bash.searchEvents({ command_id__eq: commandId });
    expect(items).toHaveLength(2);
    expect(await workspace.bash.batchGetEvents([commandId, "nothing"])).toMatchObject([
      { id: commandId },
      null,
    ]);
    expect(await workspace.bash.getEvent(commandId)).toMatchObject({ command: ":" });
    expect(await workspace.bash.clearEvents()).toMatchObject({
      cleared_count: expect.any(Number) as unknown,
    });
    const files = new FileClient({ host: machine.url, apiKey: machine.key });
    expect((await files.searchSubdirectories(machine.work, { limit: 1 })).items).toHaveLength(1);
    expect(await files.downloadTextFile(path)).toBe("text of the client");
    await files.uploadTextFile("again", path);
    expect(await readFile(path, "utf8")).toBe("again");
    workspace.close();
    files.close();
  });
});
