import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findSelfStarting } from "./find-self-starting.ts";
import { LeftBehindFiles } from "./left-behind.ts";

/** A working folder with these files, and a folder for records. */
async function open(before: Readonly<Record<string, string>> = {}) {
  const root = await realpath(await mkdtemp(join(tmpdir(), "convoke-left-")));
  const folder = join(root, "shop");
  const write = async (files: Readonly<Record<string, string>>): Promise<void> => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
  };
  await mkdir(folder);
  await write(before);
  const leftBehind = (unlocked: readonly string[] = []) =>
    new LeftBehindFiles(join(root, "records"), { folder, unlocked });
  const first = leftBehind();
  await first.begin();
  return {
    root,
    folder,
    write,
    leftBehind,
    find: async () => (await first.find()).files.map(({ path, reason }) => `${path} ${reason}`),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

test("files that editors, shells and git obey are told when they are new or have changed", async () => {
  await using shop = await open({ "lib/.vscode/settings.json": "{}", "lib/.envrc": "", "lib/other": "" });
  await shop.write({
    ".envrc": "evil",
    ".vscode/deep/tasks.json": "{}",
    "lib/.envrc": "evil",
    "lib/other": "changed",
    "lib/repo/.git/hooks/post-checkout": "evil",
    "lib/repo/.git/hooks/pre-push.sample": "",
    "lib/repo/.git/config": "[core]",
    "lib/pointer/.git": "gitdir: ../repo/.git",
    "node_modules/x/.envrc": "",
  });
  await symlink("/nowhere", join(shop.folder, "lib/.idea"));
  expect(await shop.find()).toEqual([
    ".envrc starts_by_itself",
    ".vscode/deep/tasks.json starts_by_itself",
    "lib/.envrc starts_by_itself",
    "lib/.idea starts_by_itself",
    "lib/pointer/.git repository",
    "lib/repo/.git/config repository",
    "lib/repo/.git/hooks/post-checkout repository",
  ]);
  const { files } = await shop.leftBehind().find();
  expect(files.find(({ path }) => path === "lib/.envrc")?.is_new).toBe(false);
});

test("what the wall keeps read-only is not told, but a rebase with commands is", async () => {
  await using shop = await open({ ".git/config": "[core]", ".git/hooks/pre-commit": "", ".envrc": "" });
  await shop.write({
    ".git/config": "[core] changed by its person",
    ".envrc": "changed by its person",
    ".git/rebase-merge/git-rebase-todo": "pick 1 one\nexec evil\n",
  });
  expect(await shop.find()).toEqual([".git/rebase-merge/git-rebase-todo rebase"]);
  await shop.write({ ".git/rebase-merge/git-rebase-todo": "pick 1 one\n# exec is explained here\n" });
  expect(await shop.find()).toEqual([]);
});

test("what is unlocked is told when it has changed", async () => {
  await using shop = await open({ ".vscode/settings.json": "{}", ".envrc": "" });
  await shop.write({ ".vscode/settings.json": "changed", ".envrc": "changed" });
  const { files } = await shop.leftBehind([".vscode"]).find();
  expect(files.map(({ path }) => path)).toEqual([".vscode/settings.json"]);
});

test("the files of before are recorded once, also for a later server", async () => {
  await using shop = await open();
  await shop.write({ ".envrc": "evil" });
  const later = shop.leftBehind();
  await later.begin();
  expect(later.count).toBe(null);
  expect((await later.find()).files).toEqual([{ path: ".envrc", reason: "starts_by_itself", is_new: true }]);
  expect(later.count).toBe(1);
});

test("links lead nowhere, and a folder with too many files is searched in part", async () => {
  await using shop = await open();
  await mkdir(join(shop.root, "elsewhere"));
  await writeFile(join(shop.root, "elsewhere/.envrc"), "");
  await symlink("../elsewhere", join(shop.folder, "link"));
  await mkdir(join(shop.folder, ".git"));
  await symlink("../../elsewhere", join(shop.folder, ".git/hooks"));
  expect(await shop.find()).toEqual([]);
  expect(await findSelfStarting(shop.folder, 3)).toMatchObject({ isComplete: true });
  expect(await findSelfStarting(shop.folder, 2)).toMatchObject({ isComplete: false });
});
