import { spawnSync } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { RemoteWorkspace } from "@openhands/typescript-client";
import { FileClient } from "@openhands/typescript-client/clients";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMachineSurface, type MachineSurface } from "../../../testing/machine-surface.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

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

  describe("files", () => {
    test("go up and come down in both forms, byte for byte, with hard names", async () => {
      const bytes = Buffer.from([0, 1, 255, 13, 10, 0xef, 0xbb, 0xbf]);
      for (const name of ["a b.txt", "ünï/côdé 😀.bin", 'q"uote%41.x']) {
        const path = at(name);
        const up = await machine.upload(`/api/file/upload?${query(path)}`, new Blob([bytes]));
        expect(up).toMatchObject({ status: 200, json: { success: true, file_size: bytes.length } });
        const encoded = path.split("/").map(encodeURIComponent).join("/");
        for (const url of [
          `/api/file/download?${query(path)}`,
          `/api/file/download${encoded}`,
          `/api/file/download/${encoded}`,
          `/api/file/download/${encodeURIComponent(path)}`,
        ]) {
          const down = await machine.call("GET", url);
          expect(down.status, url).toBe(200);
          expect(down.bytes).toEqual(bytes);
          expect(down.headers.get("content-type")).toBe("application/octet-stream");
          expect(down.headers.get("content-disposition")).toMatch(/^attachment; filename="/);
        }
        const byPath = await machine.upload(`/api/file/upload/${encoded}`, new Blob(["new"]));
        expect(byPath.status).toBe(200);
        expect(await readFile(path, "utf8")).toBe("new");
      }
    });

    test("parts of a file, and nothing of one that is known", async () => {
      await writeFile(at("ranged"), "0123456789");
      const get = async (headers: Record<string, string>) => {
        const url = `${machine.url}/api/file/download?${query(at("ranged"))}`;
        const reply = await fetch(url, { headers: { "x-session-api-key": machine.key, ...headers } });
        return { status: reply.status, text: await reply.text(), headers: reply.headers };
      };
      expect(await get({ range: "bytes=2-4" })).toMatchObject({ status: 206, text: "234" });
      expect(await get({ range: "bytes=-3" })).toMatchObject({ status: 206, text: "789" });
      const last = await get({ range: "bytes=8-" });
      expect(last).toMatchObject({ status: 206, text: "89" });
      expect(last.headers.get("content-range")).toBe("bytes 8-9/10");
      expect((await get({ range: "bytes=10-" })).status).toBe(416);
      expect(await get({ range: "lines=1-2" })).toMatchObject({ status: 200, text: "0123456789" });
      const etag = last.headers.get("etag") ?? "";
      expect(await get({ "if-none-match": etag })).toMatchObject({ status: 304, text: "" });
      expect(await get({ range: "bytes=0-0", "if-range": '"old"' })).toMatchObject({ status: 200 });
      await writeFile(at("empty"), "");
      const empty = await machine.call("GET", `/api/file/download?${query(at("empty"))}`);
      expect(empty).toMatchObject({ status: 200 });
      expect(empty.bytes).toHaveLength(0);
    });

    test.each([
      ["GET", () => `/api/file/download?${query("relative")}`, 400, "invalid_path"],
      ["GET", () => `/api/file/download?${query(at("absent"))}`, 404, "path_not_found"],
      ["GET", () => `/api/file/download?${query(at())}`, 400, "not_a_file"],
      ["GET", () => `/api/file/download?${query("/dev/null")}`, 400, "not_a_file"],
      ["GET", () => `/api/file/download?path=%00`, 400, "invalid_path"],
      ["GET", () => `/api/file/search_subdirs?${query(at("absent"))}`, 404, "path_not_found"],
      ["GET", () => `/api/file/search_subdirs?${query("/etc/passwd")}`, 400, "not_a_directory"],
      ["POST", () => `/api/file/create_directory?${query("/etc/passwd/x")}`, 400, "not_a_directory"],
      ["GET", () => `/api/file/archive?${query(at("absent"))}&format=tar.gz`, 404, "path_not_found"],
      ["GET", () => `/api/file/archive?${query(at())}`, 400, "no_repository"],
      ["GET", () => `/api/git/diff?${query(at("a"))}&ref=x&commit=abcd`, 400, "ref_and_commit"],
    ])("bad input is refused in words: %s %#", async (method, path, status, code) => {
      const reply = await machine.call(method, path());
      expect(reply.status).toBe(status);
      expect(reply.json).toMatchObject({ code });
    });

    test.each([
      ["GET", "/api/file/download"],
      ["GET", "/api/file/search_subdirs?path=/&limit=101"],
      ["GET", "/api/file/search_subdirs?path=/&limit=0"],
      ["GET", "/api/file/archive?path=/&format=rar"],
      ["GET", "/api/git/changes"],
      ["GET", "/api/git/commits?path=/&limit=201"],
      ["GET", "/api/git/commits/HEAD/changes?path=/"],
      ["GET", "/api/git/diff?path=/&commit=zz"],
      ["POST", "/api/file/upload?path=/nowhere"],
      ["GET", "/api/bash/bash_events/search?limit=0"],
      ["GET", "/api/bash/bash_events/search?limit=101"],
      ["GET", "/api/bash/bash_events/search?kind__eq=Nothing"],
      ["GET", "/api/bash/bash_events/search?command_id__eq=x"],
      ["GET", "/api/bash/bash_events/search?timestamp__gte=yesterday"],
      ["GET", "/api/bash/bash_events/search?page_id=nothing"],
    ])("W22: what is not valid is a 422: %s %s", async (method, path) => {
      const reply = await machine.call(method, path);
      expect(reply.status, reply.bytes.toString()).toBe(422);
      expect(reply.json).toMatchObject({ detail: [{ loc: expect.any(Array) as unknown }] });
    });

    test("an upload that is no form is refused", async () => {
      expect((await machine.call("POST", `/api/file/upload?${query(at("x"))}`, {})).status).toBe(422);
      const form = new FormData();
      form.append("other", "text");
      const reply = await fetch(`${machine.url}/api/file/upload?${query(at("x"))}`, {
        method: "POST",
        headers: { "x-session-api-key": machine.key },
        body: form,
      });
      expect(reply.status).toBe(422);
      expect((await machine.upload(`/api/file/upload?${query("x")}`, new Blob(["x"]))).status).toBe(400);
    });

    test("directories are made, listed by name in pages, and hidden ones only shown on request", async () => {
      for (const name of ["tree/B", "tree/a", "tree/A", "tree/.hidden", "tree/c d"]) {
        const made = await machine.call("POST", `/api/file/create_directory?${query(at(name))}`);
        expect(made.json).toEqual({ success: true });
      }
      await writeFile(at("tree", "file"), "");
      await symlink(at("tree", "B"), at("tree", "link"));
      const names: string[] = [];
      for (let page = ""; ;) {
        const { json } = await machine.call(
          "GET",
          `/api/file/search_subdirs?${query(at("tree"))}&limit=2${page}`,
        );
        const { items, next_page_id: next } = json as {
          items: { name: string; path: string }[];
          next_page_id: string | null;
        };
        names.push(...items.map(({ name }) => name));
        expect(items.map(({ path }) => path)).toEqual(items.map(({ name }) => at("tree", name)));
        if (next === null) break;
        page = `&page_id=${encodeURIComponent(next)}`;
      }
      expect(names).toEqual(["A", "a", "B", "c d", "link"]);
      const all = await machine.call(
        "GET",
        `/api/file/search_subdirs?${query(at("tree"))}&include_hidden=true`,
      );
      expect((all.json as { items: object[] }).items).toHaveLength(6);
      expect((await machine.call("GET", "/api/file/home?include_hidden=true")).status).toBe(404);
    });

    test("a directory is downloaded as an archive without files that can be regenerated", async () => {
      await mkdir(at("project", "node_modules"), { recursive: true });
      await writeFile(at("project", "kept.txt"), "kept content");
      await writeFile(at("project", "left.log"), "left content");
      await writeFile(at("project", "node_modules", "x.js"), "module content");
      const reply = await machine.call(
        "GET",
        `/api/file/archive?${query(at("project"))}&format=tar.gz&exclude=*.log`,
      );
      const text = gunzipSync(reply.bytes).toString("latin1");
      expect(text).toContain("kept content");
      expect(text).not.toContain("left content");
      expect(text).not.toContain("module content");
      const zip = await machine.call(
        "GET",
        `/api/file/archive?${query(at("project"))}&format=zip&exclude=*.log`,
      );
      expect(zip.headers.get("content-type")).toBe("application/zip");
      expect(zip.headers.get("content-disposition")).toContain("project.zip");
      const names = zip.bytes.toString("latin1");
      expect(names).toContain("project/kept.txt");
      expect(names).not.toMatch(/left\.log|node_modules\/x/);
    });

    test("an archive has the folder as its root, keeps links, tells branch and commit, and holds no credentials of git", async () => {
      await mkdir(at("archived/venv"), { recursive: true });
      const git = (...parameters: string[]) => machine.git("-C", "archived/venv", ...parameters);
      await git("init", "-q", "-b", "feat/ü");
      const remote = "https://user:canary-token@example.org/a/b.git?key=canary-token";
      await git("remote", "add", "origin", remote);
      await writeFile(at("archived/venv", "a"), "one\n");
      await writeFile(at("archived/venv", "config"), "of nobody's git");
      await symlink("./a", at("archived/venv", "link"));
      await git("add", ".");
      await git("commit", "-q", "-m", "first");
      for (const place of [".git/modules/sub", ".git/worktrees/tree", "deep/inner.git", "deep/other/.git"]) {
        await mkdir(at("archived/venv", place), { recursive: true });
        for (const name of ["config", "FETCH_HEAD"])
          await writeFile(at("archived/venv", place, name), remote);
      }
      await writeFile(at("archived/venv", ".git-credentials"), remote);
      const address = `/api/file/archive?${query(at("archived/venv"))}&format=tar.gz`;
      const { bytes, headers } = await machine.call("GET", address);
      const whole = await machine.call("GET", `${address}&use_default_excludes=false`);
      for (const archive of [bytes, whole.bytes]) {
        expect(gunzipSync(archive).toString("latin1")).not.toContain("canary-token");
      }
      const folder = await machine.call(
        "GET",
        `/api/file/archive?${query(at("archived/venv/.git"))}&format=tar.gz`,
      );
      expect(gunzipSync(folder.bytes).toString("latin1")).not.toContain("canary-token");
      const list = spawnSync("tar", ["-tvzf", "-"], { input: bytes, encoding: "utf8" }).stdout.trimEnd();
      const names = list.split("\n").map((line) => line.split(/ +/).slice(5).join(" "));
      expect(names.filter((name) => !name.startsWith("venv/.git/"))).toEqual(
        expect.arrayContaining([
          "venv/",
          "venv/a",
          "venv/config",
          "venv/link -> ./a",
          "venv/deep/inner.git/",
        ]),
      );
      expect(names.every((name) => name.startsWith("venv/"))).toBe(true);
      expect(Object.fromEntries([...headers].filter(([name]) => name.startsWith("x-archive")))).toEqual({
        "x-archive-branch": "feat%2F%C3%BC",
        "x-archive-head-commit": expect.stringMatching(/^[0-9a-f]{40}$/),
        "x-archive-repo-remote": "https%3A%2F%2F%2A%2A%2A%2A%40example.org%2Fa%2Fb.git",
        "x-archive-repo-root": encodeURIComponent(at("archived/venv")),
      });
    });
  });

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
