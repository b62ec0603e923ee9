import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMachineSurface, type MachineSurface } from "../../../testing/machine-surface.ts";

/** The same over the server's own machine and over one behind the wire, as sandboxes are. */
describe.each([
  ["this machine", false],
  ["a machine behind a tool host", true],
])("%s", (_name, isRemote) => {
  let machine: MachineSurface;
  beforeAll(async () => {
    machine = await openMachineSurface({ isRemote });
  });
  afterAll(() => machine[Symbol.asyncDispose]());
  const at = (...parts: string[]): string => join(machine.work, ...parts);
  const query = (path: string): string => `path=${encodeURIComponent(path)}`;

  test("clients 8: a tar file ends with a manifest; git's history and what can be made again come only when asked for", async () => {
    const git = (...parameters: string[]) => machine.git("-C", "shelf/listed", ...parameters);
    for (const name of ["a/b", "deep/a", "node_modules/x", "dist"])
      await mkdir(at("shelf/listed", name), { recursive: true });
    await git("init", "-q", "-b", "main");
    for (const name of [
      "a/f.txt",
      "a/b/g.txt",
      "deep/a/h.txt",
      "top.txt",
      "node_modules/x/i.js",
      "dist/o.js",
    ])
      await writeFile(at("shelf/listed", name), "12");
    const list = async (more: string): Promise<string[]> => {
      const { bytes } = await machine.call(
        "GET",
        `/api/file/archive?${query(at("shelf/listed"))}&format=tar.gz${more}`,
      );
      const listed = spawnSync("tar", ["-tzf", "-"], { input: bytes, encoding: "utf8" });
      expect(listed.stderr).toBe("");
      const names = listed.stdout.trimEnd().split("\n");
      expect(names.at(-1)).toBe("listed/archive_manifest.json");
      const shown = ["-xzOf", "-", "listed/archive_manifest.json"];
      const manifest = JSON.parse(
        spawnSync("tar", shown, { input: bytes, encoding: "utf8" }).stdout,
      ) as object;
      const files = names.filter((name) => !name.endsWith("/") && !name.includes("/.git/")).slice(0, -1);
      if (!more.includes("false"))
        expect(manifest).toEqual({
          excludes: expect.arrayContaining([".git", "node_modules"]),
          file_count: files.length,
          format: "tar.gz",
          source: "listed",
          total_bytes: 2 * files.length,
        });
      return names
        .filter((name) => !name.endsWith("/"))
        .map((name) => name.replace("listed/", ""))
        .toSorted();
    };
    const all = ["a/b/g.txt", "a/f.txt", "archive_manifest.json", "deep/a/h.txt", "top.txt"];
    expect(await list("")).toEqual(all);
    expect(await list("&exclude=a/*.txt")).toEqual(all.filter((name) => name !== "a/f.txt"));
    expect(await list("&exclude=**/a/*.txt")).toEqual(all.filter((name) => !/\ba\/\w\.txt/.test(name)));
    expect(await list("&exclude=deep/**/h.txt&exclude=a/**")).toEqual(["archive_manifest.json", "top.txt"]);
    expect(await list("&exclude=/a/")).toEqual(all.filter((name) => !name.startsWith("a/")));
    expect(await list("&exclude=?.txt")).toEqual(["archive_manifest.json", "top.txt"]);
    expect(await list("&use_default_excludes=false")).toEqual(
      expect.arrayContaining([".git/HEAD", "dist/o.js", "node_modules/x/i.js"]),
    );
  });

  test("clients 8: the only repository one or two levels below is meant; its patch has no folders that can be made again", async () => {
    await mkdir(at("around/one/repo/node_modules"), { recursive: true });
    const git = (...parameters: string[]) => machine.git("-C", "around/one/repo", ...parameters);
    await git("init", "-q", "-b", "main");
    await writeFile(at("around/one/repo/kept.txt"), "kept\n");
    await writeFile(at("around/one/repo/node_modules/x.js"), "module\n");
    const get = (folder: string, more = "") =>
      machine.call("GET", `/api/file/archive?${query(at(folder))}${more}`);
    for (const folder of ["around", "around/one", "around/one/repo"]) {
      const patch = await get(folder);
      expect([folder, patch.status, patch.headers.get("content-disposition")]).toEqual([
        folder,
        200,
        expect.stringContaining("repo.patch"),
      ]);
      const text = patch.bytes.toString("utf8");
      expect([text.includes("+kept"), text.includes("module")]).toEqual([true, false]);
      const packed = await get(folder, "&format=tar.gz");
      expect(packed.headers.get("x-archive-repo-root")).toBe(encodeURIComponent(at("around/one/repo")));
      expect(packed.headers.get("content-disposition")).toContain("repo.tar.gz");
    }
    expect((await get("around", "&use_default_excludes=false")).bytes.toString("utf8")).toContain("+module");
    await git("add", "-f", "node_modules");
    expect((await get("around")).bytes.toString("utf8")).toContain("+module");
    await machine.git("init", "-q", "around/other");
    expect(await get("around")).toMatchObject({ status: 400, json: { code: "no_repository" } });
    expect((await get("around", "&format=tar.gz")).headers.get("content-disposition")).toContain(
      "around.tar.gz",
    );
  });
});
