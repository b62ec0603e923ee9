import { mkdtempDisposable, mkdir, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resolved, whyRefused } from "./refused-folder.ts";

const places = { dataDir: "/home/ada/.convoke", home: "/home/ada" };

test.each([
  ["/", "system"],
  ["/tmp", "system"],
  ["/etc/nginx", "system"],
  ["/home", "system"],
  ["/home/ada", "home folder"],
  ["/home/ada/.ssh", "credentials"],
  ["/home/ada/.config/gcloud/logs", "credentials"],
  ["/home/ada/.convoke", "data folder"],
  ["/home/ada/.convoke/conversations/1", "data folder"],
])("%s is refused", (folder, reason) => {
  expect(whyRefused(folder, places)).toMatch(new RegExp(`${reason}.*CONVOKE_WALL=off`));
});

test("a folder around the home is refused", () => {
  expect(whyRefused("/users", { dataDir: "/data", home: "/users/ada" })).toContain(
    "contains the home folder",
  );
});

test.each([
  "/home/ada/shop",
  "/srv/shop",
  "/home/ada/.config/nvim",
  "/tmp/x",
  "/home/ada/.convoke/worktrees/1/shop",
  "/home/ada/.convoke/conversations/1/project",
  "/home/bob/shop",
])("%s is not", (folder) => {
  expect(whyRefused(folder, places)).toBeNull();
});

test("a path is resolved as far as it exists", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-resolved-"));
  await mkdir(join(folder.path, "real"));
  await symlink(join(folder.path, "real"), join(folder.path, "link"));
  const root = await resolved(folder.path);
  expect(await resolved(join(folder.path, "link"))).toBe(join(root, "real"));
  expect(await resolved(join(folder.path, "link/new/deep"))).toBe(join(root, "real/new/deep"));
  expect(await resolved("/convoke-nowhere")).toBe("/convoke-nowhere");
});
