import { chmod, lstat, mkdir, readFile, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ApplyPatchObservation, type Observation } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { expect, onTestFinished, test } from "vitest";
import { openTemporaryDirectory } from "../../testing/temporary-directory.ts";
import { applyPatchTool } from "./apply-patch-tool.ts";

const patchOf = (...lines: readonly string[]): string =>
  ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

async function bench(files: Readonly<Record<string, string>> = {}) {
  const directory = await openTemporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  const workspaceDir = join(directory.path, "work");
  await mkdir(workspaceDir);
  const place = (name: string): string => join(workspaceDir, name);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(place(name)), { recursive: true });
    await writeFile(place(name), text);
  }
  const context = {
    sessionId: "s",
    workspaceDir,
    stateDir: directory.path,
    environment: {},
    params: {},
    canSee: false,
  };
  const tool = await applyPatchTool.open(context);
  const apply = async (...lines: readonly string[]): Promise<ApplyPatchObservation> =>
    await send(patchOf(...lines));
  const send = async (patch: string): Promise<ApplyPatchObservation> => {
    const observation: Observation = await tool.execute({ kind: "ApplyPatchAction", patch } as never, {
      actionId: "a",
      tool: "apply_patch",
      signal: new AbortController().signal,
      secrets: [],
      onProgress: () => {},
    });
    const checked = createValidator().check<ApplyPatchObservation>(ApplyPatchObservation, observation);
    if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
    return checked.value;
  };
  const read = async (name: string): Promise<string> => await readFile(place(name), "utf8");
  return { workspaceDir, outside: directory.path, place, apply, send, read };
}

const textOf = ({ content = [] }: ApplyPatchObservation): string =>
  content.map((part) => ("text" in part ? part.text : "")).join("");

test("tools 20.6.4: files are added, changed, moved and deleted by one patch", async () => {
  const { apply, read, place, workspaceDir } = await bench({
    "a.ts": "one\ntwo\nthree\n",
    "b.ts": "x\ny\n",
    "c.txt": "gone\n",
    "d.txt": "as it is\n",
  });
  await chmod(place("b.ts"), 0o755);
  const observation = await apply(
    "*** Add File: new/deep.txt",
    "+first",
    "+",
    "+last",
    "*** Update File: a.ts",
    "@@",
    " one",
    "-two",
    "+2",
    " three",
    "*** Update File: b.ts",
    "*** Move to: lib/b.ts",
    " x",
    "-y",
    "+z",
    "*** Delete File: c.txt",
    "*** Update File: d.txt",
    "*** Move to: e.txt",
  );
  expect(observation).toMatchObject({
    is_error: false,
    fuzz: 0,
    commit: {
      changes: {
        "new/deep.txt": { type: "add", old_content: null, new_content: "first\n\nlast\n", move_path: null },
        "a.ts": {
          type: "update",
          old_content: "one\ntwo\nthree\n",
          new_content: "one\n2\nthree\n",
          move_path: "",
        },
        "b.ts": { type: "update", old_content: "x\ny\n", new_content: "x\nz\n", move_path: "lib/b.ts" },
        "c.txt": { type: "delete", old_content: "gone\n", new_content: null, move_path: null },
        "d.txt": { type: "update", old_content: "as it is\n", new_content: "as it is\n", move_path: "e.txt" },
      },
    },
  });
  expect(textOf(observation)).toContain("Updated b.ts and moved it to lib/b.ts.");
  expect(await read("new/deep.txt")).toBe("first\n\nlast\n");
  expect(await read("a.ts")).toBe("one\n2\nthree\n");
  expect(await read("lib/b.ts")).toBe("x\nz\n");
  expect((await stat(place("lib/b.ts"))).mode & 0o777).toBe(0o755);
  expect(await read("e.txt")).toBe("as it is\n");
  expect((await readdir(workspaceDir)).sort()).toEqual(["a.ts", "e.txt", "lib", "new"]);
});

test("tools 20.6.5: anchors lead to the place, white space is forgiven and counted, and lines that stay keep their bytes", async () => {
  const text =
    "class A:\n    def go(self):\n        return 1  \n\nclass B:\n    def go(self):\n        return 1  \n";
  const { apply, read } = await bench({ "m.py": text });
  const observation = await apply(
    "*** Update File: m.py",
    "@@ class B:",
    "@@     def go(self):",
    "         return 1",
    "+        # done",
  );
  expect(observation).toMatchObject({ is_error: false, fuzz: 1 });
  expect(await read("m.py")).toBe(`${text}        # done\n`);
  const trimmed = await apply(
    "*** Update File: m.py",
    "@@",
    " class A:",
    "-def go(self):",
    "+    def start(self):",
  );
  expect(trimmed.fuzz).toBe(100);
  expect(await read("m.py")).toContain("class A:\n    def start(self):\n        return 1  \n");
  expect(textOf(trimmed)).toContain("other white space");
});

test("tools 20.6.6: a change at the end of the file is made there, also where the lines stand above as well", async () => {
  const { apply, read } = await bench({ "a.txt": "x\ny\nx\n" });
  expect(await apply("*** Update File: a.txt", "@@", "-x", "+z", "*** End of File")).toMatchObject({
    fuzz: 0,
  });
  expect(await read("a.txt")).toBe("x\ny\nz\n");
  expect((await apply("*** Update File: a.txt", "@@", "-x", "+w", "*** End of File")).fuzz).toBe(10_000);
  expect(await read("a.txt")).toBe("w\ny\nz\n");
});

test("new lines alone go behind their anchor, or to the end; an empty line behind a change is no line of the file", async () => {
  const { apply, read } = await bench({ "a.txt": "one\ntwo", "b.txt": "", "c.txt": "k\nl\n" });
  await apply("*** Update File: a.txt", "@@ one", "+1.5", "*** Update File: b.txt", "+all");
  expect(await read("a.txt")).toBe("one\n1.5\ntwo");
  expect(await read("b.txt")).toBe("all\n");
  await apply(
    "*** Update File: a.txt",
    "+three",
    "*** Update File: c.txt",
    "-k",
    "+K",
    "",
    "@@",
    "-l",
    "+L",
    "",
  );
  expect(await read("a.txt")).toBe("one\n1.5\ntwo\nthree");
  expect(await read("c.txt")).toBe("K\nL\n");
});

test("tools 20.6.10: CR LF, a byte order mark and another encoding stay, whatever the patch has", async () => {
  const { send, apply, place } = await bench({ "a.txt": "\uFEFFone\r\ntwo\r\nthree\r\n" });
  await send(
    patchOf("*** Update File: a.txt", " one", "-two", "+2", "+2.5", " three").replaceAll("\n", "\r\n"),
  );
  expect(await readFile(place("a.txt"), "utf8")).toBe("\uFEFFone\r\n2\r\n2.5\r\nthree\r\n");
  await writeFile(
    place("l.txt"),
    Buffer.from("caf\u00e9 au lait, d\u00e9j\u00e0 vu, \u00e0 la carte\nx\n", "latin1"),
  );
  await apply("*** Update File: l.txt", "-x", "+y");
  expect((await readFile(place("l.txt"))).toString("latin1")).toContain("caf\u00e9");
});

test("tools 20.6.7: no path leads out of the working directory, through links neither", async () => {
  const { apply, outside, place, workspaceDir } = await bench({ "in.txt": "x\n" });
  await writeFile(join(outside, "out.txt"), "x\n");
  await symlink(outside, place("away"));
  await symlink(join(outside, "out.txt"), place("link.txt"));
  const update = ["-x", "+y"];
  for (const section of [
    ["*** Update File: ../out.txt", ...update],
    [`*** Update File: ${join(outside, "out.txt")}`, ...update],
    ["*** Update File: away/out.txt", ...update],
    ["*** Update File: link.txt", ...update],
    ["*** Delete File: ../out.txt"],
    ["*** Add File: away/new.txt", "+x"],
    ["*** Add File: ../new/new.txt", "+x"],
    ["*** Update File: in.txt", "*** Move to: ../in.txt", ...update],
    ["*** Update File: in.txt", "*** Move to: /tmp/in.txt", ...update],
    ["*** Update File: in.txt", "*** Move to: away/in.txt", ...update],
    ["*** Delete File: ."],
  ]) {
    const observation = await apply(...section);
    expect(observation, section.join()).toMatchObject({ is_error: true, commit: null });
  }
  expect((await readdir(outside)).sort()).toEqual(["out.txt", "work"]);
  expect(await readFile(join(outside, "out.txt"), "utf8")).toBe("x\n");
  const inside = await apply(`*** Update File: ${join(workspaceDir, "in.txt")}`, ...update);
  expect(inside.is_error).toBe(false);
});

test("a file that is a link is changed where it leads, and stays a link", async () => {
  const { apply, place, read } = await bench({ "real/a.txt": "x\n" });
  await symlink("real/a.txt", place("a.txt"));
  expect((await apply("*** Update File: a.txt", "-x", "+y")).is_error).toBe(false);
  expect(await read("real/a.txt")).toBe("y\n");
  expect((await lstat(place("a.txt"))).isSymbolicLink()).toBe(true);
});

test("tools 20.6.8: when one section fails, nothing is changed", async () => {
  const files = { "a.txt": "a\n", "b.txt": "b\n" };
  const { apply, read, workspaceDir } = await bench(files);
  const observation = await apply(
    "*** Update File: a.txt",
    "-a",
    "+A",
    "*** Add File: new.txt",
    "+n",
    "*** Update File: b.txt",
    "-missing",
    "+B",
  );
  expect(observation).toMatchObject({ is_error: true, commit: null, fuzz: 0 });
  expect(textOf(observation)).toContain("no file was changed");
  expect(await read("a.txt")).toBe("a\n");
  expect((await readdir(workspaceDir)).sort()).toEqual(["a.txt", "b.txt"]);
});

test("tools 20.6.8: when the file system refuses a change, the earlier ones are undone", async () => {
  const { apply, read, workspaceDir } = await bench({
    "a.txt": "a\n",
    "gone.txt": "g\n",
    "moved.txt": "m\n",
    file: "",
  });
  const observation = await apply(
    "*** Update File: a.txt",
    "-a",
    "+A",
    "*** Delete File: gone.txt",
    "*** Update File: moved.txt",
    "*** Move to: deep/down/moved.txt",
    "-m",
    "+M",
    "*** Add File: made/new.txt",
    "+n",
    // Its directory is a file, which shows only when it is made.
    "*** Add File: file/below.txt",
    "+x",
  );
  expect(observation).toMatchObject({ is_error: true, commit: null });
  expect(await read("a.txt")).toBe("a\n");
  expect(await read("moved.txt")).toBe("m\n");
  expect(await read("gone.txt")).toBe("g\n");
  expect((await readdir(workspaceDir)).sort()).toEqual(["a.txt", "file", "gone.txt", "moved.txt"]);
});

test.each([
  [["no patch"], "begins no section"],
  [[], "no section"],
  [["*** Add File: "], "names no file"],
  [["*** Add File: n.txt", "x"], "begins with +"],
  [["*** Add File: a.txt", "+x"], "exists already"],
  [["*** Delete File: a.txt", "-x"], "nothing but its first line"],
  [["*** Delete File: none.txt"], "none.txt does not exist, so the patch cannot delete it"],
  [["*** Update File: none.txt", "-x", "+y"], "none.txt does not exist, so the patch cannot update it"],
  [["*** Update File: a.txt"], "no change"],
  [["*** Update File: a.txt", "x"], "begin with a space, - or +"],
  [["*** Update File: a.txt", " one"], "nothing would change"],
  [["*** Update File: dir", "-x", "+y"], "is a directory"],
  [
    ["*** Update File: a.txt", "-one", "+1", "*** Update File: ./a.txt", "-two", "+2"],
    "more than one section",
  ],
  [["*** Update File: a.txt", "*** Move to: b.txt", "-one", "+1"], "something already"],
  [["*** Update File: a.txt", "-two", "+2", "@@", "-one", "+1"], "line 1, above the change before"],
  [["*** Update File: bin.dat", "-x", "+y"], "binary"],
])("tools 20.6.9: %j is refused with what to change: %s", async (lines, words) => {
  const { apply } = await bench({ "a.txt": "one\ntwo\n", "b.txt": "", "dir/x": "", "bin.dat": "x\0y\n" });
  const observation = await apply(...lines);
  expect(observation).toMatchObject({ is_error: true, commit: null });
  expect(textOf(observation)).toContain(words);
  expect(observation.message).toBe(textOf(observation));
});

test.each([
  "",
  "*** Begin Patch",
  "x\n*** Begin Patch\n*** End Patch",
  "*** Begin Patch\n*** Delete File: a",
])("without its first and last line %j is no patch", async (patch) => {
  const { send } = await bench();
  expect(textOf(await send(patch))).toContain("line of a patch");
});
