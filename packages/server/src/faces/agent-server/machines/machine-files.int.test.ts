import { spawnSync } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMachineSurface, type MachineSurface } from "../../../testing/machine-surface.ts";

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
});
