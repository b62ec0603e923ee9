import { mkdtempDisposable, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { StoredSettings } from "../../settings/stored-settings.ts";
import { CopyFolders } from "./copy-folders.ts";
import { isCommit, readSource } from "./extension-source.ts";
import {
  compareFolders,
  digestOf,
  folderBounds,
  packFolder,
  unpackFolder,
  type CopiedFile,
} from "./folder-content.ts";
import { findLogin, type LoginSources } from "./git-login.ts";
import { followLink, parseTree, planTree } from "./git-tree.ts";

const read = (source: string, more: object = {}) => readSource({ source, ...more }, ["body"]);

test("a source is a directory, an https address or a shorthand", () => {
  expect(read("/srv/x", { repo_path: "a/./b/" })).toEqual({ kind: "folder", directory: "/srv/x/a/b" });
  expect(read("file:///srv/x")).toEqual({ kind: "folder", directory: "/srv/x" });
  const target = { host: "github.com", port: 443 };
  expect(read("github:ada/tools", { ref: " v1 ", repo_path: "kit" })).toEqual({
    kind: "git",
    address: "https://github.com/ada/tools",
    target,
    ref: "v1",
    inside: "kit",
  });
  expect(read("https://git.example.com:8443/a/b.git")).toMatchObject({
    target: { host: "git.example.com", port: 8443 },
    ref: null,
    inside: "",
  });
  expect(isCommit("0".repeat(40))).toBe(true);
  expect(isCommit("0".repeat(39))).toBe(false);
});

test.each([
  ["ssh://git@github.com/a/b", {}, /over https only/],
  ["git@github.com:a/b.git", {}, /over https only/],
  ["git://github.com/a/b", {}, /over https only/],
  ["http://github.com/a/b", {}, /over https only/],
  ["ext::sh -c 'touch /tmp/x'", {}, /over https only/],
  ["https://ada:pass@github.com/a/b", {}, /Leave name and password out/],
  ["https://github.com/a?token=1", {}, /without a query/],
  ["https://github.com/", {}, /without a query/],
  ["--upload-pack=x", {}, /absolute path/],
  ["tools", {}, /absolute path/],
  ["/srv/x", { ref: "main" }, /used as it is/],
  ["github:a/b", { repo_path: "../x" }, /leads outside/],
  ["github:a/b", { ref: "--upload-pack=x" }, /name of a branch/],
  ["github:a/b", { ref: "+main" }, /name of a branch/],
  ["github:a/b", { ref: "main:evil" }, /name of a branch/],
  ["github:a/b", { ref: "a..b" }, /name of a branch/],
])("%s is refused by its field", (source, more, words) => {
  expect(() => read(source, more)).toThrow(words);
});

const entry = (path: string, mode = "100644", size = 1) => ({ mode, object: "a".repeat(40), size, path });

test.each([
  ["a/../b", /leads outside/],
  ["a//b", /leads outside/],
  ["/a", /leads outside/],
  [".git/hooks/x", /git itself/],
  [".GIT./x", /git itself/],
  ["git~1/x", /git itself/],
  ["a\\b", /backslash/],
  ["a\u0000b\u0007", /control/],
  ["a\u202etxt", /control/],
  ["x".repeat(301), /too long/],
  ["a/".repeat(20) + "a", /too long/],
])("a tree with the name %j is refused", (path, words) => {
  expect(() => planTree([entry(path)])).toThrow(words);
});

test("a tree is bounded, and its links and submodules are told apart", () => {
  const object = "b".repeat(40);
  const line = (mode: string, type: string, size: string, path: string) =>
    `${mode} ${type} ${object} ${size.padStart(7)}\t${path}\0`;
  const listing = [
    line("100755", "blob", "3", "run.sh"),
    line("120000", "blob", "4", "l"),
    line("160000", "commit", "-", "sub"),
  ].join("");
  expect(planTree(parseTree(Buffer.from(listing)))).toEqual({
    files: [{ path: "run.sh", object, isExecutable: true }],
    links: [{ path: "l", object }],
    submodules: ["sub"],
  });
  expect(() => parseTree(Buffer.from([...Buffer.from("100644 blob a 1\t"), 0xff, 0]))).toThrow(/UTF-8/);
  const many = Array.from({ length: folderBounds.files + 1 }, (_, at) => entry(`f${at}`));
  expect(() => planTree(many)).toThrow(/more than 1000 files/);
  expect(() => planTree([entry("a", "100644", folderBounds.bytes + 1)])).toThrow(/bytes together/);
  expect(() => planTree([entry("A.md"), entry("a.md")])).toThrow(/case alone/);
  expect(() => planTree([entry("l", "120000", 5_000)])).toThrow(/link "l"/);
  expect(followLink("a/b", "../c")).toBe("c");
  for (const target of ["../../c", "/c", "../.."])
    expect(() => followLink("a/b", target)).toThrow(/link "a\/b"/);
});

const file = (path: string, text: string, isExecutable = false): CopiedFile => ({
  path,
  isExecutable,
  bytes: Buffer.from(text),
});

test("a folder is packed whole, its digest names its content, and two are compared by path", () => {
  const files = [file("b", "\u0000\u00ff"), file("a/run", "#!", true)];
  const again = unpackFolder(packFolder(files));
  expect(digestOf(again)).toBe(digestOf(files));
  for (const other of [[files[0]!], [file("b", "x"), files[1]!], [files[0]!, file("a/run", "#!")]])
    expect(digestOf(other)).not.toBe(digestOf(files));
  expect(compareFolders(files, [file("b", "x"), file("c", "")])).toEqual({
    added: ["c"],
    changed: ["b"],
    removed: ["a/run"],
  });
});

test("a copy is written whole, again after a power cut, and removed with everything else that is not wanted", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-copies-"));
  const files = [file("kit/a.md", "A"), file("kit/run", "#!", true)];
  const digest = digestOf(files);
  const copy = { digest, label: "kit", read: () => files };
  const path = await new CopyFolders(folder.path).write("ada", copy);
  expect((await stat(join(path, "run"))).mode & 0o777).toBe(0o755);
  await writeFile(join(path, "a.md"), "");
  const later = new CopyFolders(folder.path);
  expect(await later.find("ada", digest)).toBeNull();
  await later.write("ada", copy);
  expect(await readFile(join(path, "a.md"), "utf8")).toBe("A");
  expect(await later.find("ada", digest)).toBe(path);
  expect(later.pathOf("bob", digest)).not.toBe(later.pathOf("ada", digest));
  await later.keepOnly("ada", new Set());
  expect(await later.find("ada", digest)).toBeNull();
  await later.write("bob", copy);
  await later.sweep(new Map());
  expect(await readdir(join(folder.path, "extensions"))).toEqual([]);
});

const tokens: StoredSettings["providerTokens"] = {
  github: { token: "ghp-value-of-token", user_id: null, host: null },
  gitlab: { token: "glpat-value", user_id: null, host: "https://git.example.com/" },
};
const sources = (more: Partial<LoginSources> = {}): LoginSources => ({
  given: {},
  stored: {},
  tokens,
  ...more,
});

test("git logs in with a secret that is bound to the host, or with its provider's token, and never with another one", () => {
  const at = (host: string) => ({ host, port: 443 });
  expect(findLogin(at("github.com"), sources())).toMatchObject({
    value: "ghp-value-of-token",
    hosts: ["github.com:443"],
    as: ["basic"],
  });
  expect(findLogin(at("git.example.com"), sources())).toMatchObject({ value: "glpat-value" });
  expect(findLogin(at("other.example.com"), sources())).toBeNull();
  const unbound = { A: { value: "unbound-value-of-a" } };
  const bound = { B: { value: "bound-value-of-b", hosts: ["*.example.com"] } };
  expect(findLogin(at("other.example.com"), sources({ stored: { ...unbound, ...bound } }))).toMatchObject({
    name: "B",
    hosts: ["other.example.com:443"],
  });
  const given = { C: { kind: "StaticSecret" as const, value: "given-value-of-c", hosts: ["github.com"] } };
  expect(findLogin(at("github.com"), sources({ given }))).toMatchObject({ name: "C" });
  const onlyHeader = { D: { value: "header-value-of-d", hosts: ["github.com"], as: "header" as const } };
  expect(findLogin(at("github.com"), sources({ stored: onlyHeader }))).toMatchObject({
    name: "token of github",
  });
});
