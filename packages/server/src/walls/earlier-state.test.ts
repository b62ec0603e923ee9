import { mkdir, mkdtempDisposable, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { adoptState } from "./earlier-state.ts";

const account = { become: null, shown: { uid: 1, gid: 1 }, name: "ada", home: "/home/ada", isRoot: false };

async function openPlaces() {
  const folder = await mkdtempDisposable(join(tmpdir(), "convoke-earlier-"));
  const places = {
    from: join(folder.path, "from"),
    to: join(folder.path, "state/one"),
    draftsDir: join(folder.path, "drafts"),
  };
  for (const path of [join(places.from, "observations"), join(folder.path, "state"), places.draftsDir])
    await mkdir(path, { recursive: true });
  await writeFile(join(places.from, "executions.sqlite"), "record");
  await writeFile(join(places.from, "observations/1.txt"), "output");
  await writeFile(join(places.from, "secret-of-the-server"), "x");
  return { ...places, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test("a session takes its record along, once, and nothing of the server", async () => {
  await using places = await openPlaces();
  await adoptState(places, account);
  expect((await readdir(places.to)).toSorted()).toEqual(["executions.sqlite", "observations"]);
  await writeFile(join(places.to, "executions.sqlite"), "newer");
  await adoptState(places, account);
  expect(await readFile(join(places.to, "executions.sqlite"), "utf8")).toBe("newer");
  expect(await readdir(places.draftsDir)).toEqual([]);
});

test("a link in its place is not followed", async () => {
  await using places = await openPlaces();
  const elsewhere = join(places.draftsDir, "elsewhere");
  await symlink(elsewhere, places.to);
  await adoptState(places, account);
  expect(await readdir(places.draftsDir)).toEqual([]);
});
