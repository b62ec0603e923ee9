import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { giveToOwner } from "./owned-files.ts";

const self = process.getuid?.() ?? 0;
const owner = { uid: 4711, gid: 4712 };
let root = "";
let folder = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "convoke-owned-"));
  folder = join(root, "work");
  mkdirSync(join(folder, "old"), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const uidOf = (...path: string[]): number => lstatSync(join(folder, ...path)).uid;

// Only root may give files away.
describe.skipIf(self !== 0)("P50: what root makes in the folder of somebody else (needs root)", () => {
  const sweep = async (sinceMs = Date.now()): Promise<void> =>
    giveToOwner({ folder, owner, from: 0, sinceMs });

  test("files, folders and links become its owner's, however deep", async () => {
    mkdirSync(join(folder, "old", "new", "deeper"), { recursive: true });
    writeFileSync(join(folder, "old", "new", "deeper", "file"), "made");
    symlinkSync("/etc/passwd", join(folder, "link"));
    await sweep();
    expect(
      [["old", "new"], ["old", "new", "deeper"], ["old", "new", "deeper", "file"], ["link"]].map((path) =>
        uidOf(...path),
      ),
    ).toEqual([owner.uid, owner.uid, owner.uid, owner.uid]);
    expect(lstatSync(join(folder, "link")).gid).toBe(owner.gid);
    expect(lstatSync("/etc/passwd").uid).toBe(0);
  });

  test("what was there before stays whose it was", async () => {
    writeFileSync(join(folder, "before"), "old");
    await sweep(Date.now() + 5_000);
    expect([uidOf("before"), uidOf("old")]).toEqual([0, 0]);
  });

  test("nothing outside is touched: second names and folders behind links stay root's", async () => {
    writeFileSync(join(root, "outside"), "secret");
    linkSync(join(root, "outside"), join(folder, "second-name"));
    mkdirSync(join(root, "other"));
    writeFileSync(join(root, "other", "file"), "secret");
    symlinkSync(join(root, "other"), join(folder, "old", "way-out"));
    await sweep();
    expect(lstatSync(join(root, "outside")).uid).toBe(0);
    expect(lstatSync(join(root, "other", "file")).uid).toBe(0);
  });

  test("a tree that moves and vanishes meanwhile fails nothing", async () => {
    for (let at = 0; at < 50; at += 1) mkdirSync(join(folder, `d${at}`, "e"), { recursive: true });
    const sweeping = sweep();
    for (let at = 0; at < 50; at += 2) renameSync(join(folder, `d${at}`), join(folder, `moved${at}`));
    for (let at = 1; at < 50; at += 2) rmSync(join(folder, `d${at}`), { recursive: true });
    await sweeping;
    await sweep();
    expect(uidOf("moved0", "e")).toBe(owner.uid);
  });

  test("a folder in which nothing was made for long is looked into, but its files are not", async () => {
    writeFileSync(join(folder, "old", "file"), "made");
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(join(folder, "old"), longAgo, longAgo);
    mkdirSync(join(folder, "new"));
    await sweep();
    expect([uidOf("old", "file"), uidOf("new")]).toEqual([0, owner.uid]);
  });
});
