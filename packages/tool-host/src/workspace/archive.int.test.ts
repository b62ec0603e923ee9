import { spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, mkdtempDisposable, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { crc32, gunzipSync, inflateRawSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openArchive, unreadIn } from "./archive.ts";

const environment = { PATH: process.env["PATH"] ?? "" };

describe("a directory as a ZIP file", () => {
  let place = "";
  const at = (name: string): string => path.join(place, name);
  beforeEach(async () => {
    place = await mkdtemp(path.join(tmpdir(), "convoke-zip-"));
    await mkdir(at("folder/deep"), { recursive: true });
    for (const name of ["folder", "folder/deep"]) await chmod(at(name), 0o755);
  });
  afterEach(() => rm(place, { recursive: true }));

  const packed = async (exclude: readonly string[] = []): Promise<Record<string, unknown>> =>
    readZip(await buffer(await openArchive(at("folder"), environment, exclude, "zip")));

  test("holds files of every size, names of every length, modes and links, under the name of the folder", async () => {
    const long = `${"long-".repeat(40)}ü.txt`;
    await writeFile(at("folder/empty"), "");
    await writeFile(at("folder/deep/large"), Buffer.alloc(3_000_000, "abc"));
    await writeFile(at(`folder/deep/${long}`), "long name");
    await writeFile(at("folder/run.sh"), "#!/bin/sh\n");
    for (const name of ["empty", "deep/large", `deep/${long}`]) await chmod(at(`folder/${name}`), 0o644);
    await chmod(at("folder/run.sh"), 0o755);
    await symlink("../empty", at("folder/deep/link"));
    expect(await packed()).toEqual({
      "folder/": [0o040_755, ""],
      "folder/deep/": [0o040_755, ""],
      "folder/deep/large": [0o100_644, "abc".repeat(1_000_000)],
      [`folder/deep/${long}`]: [0o100_644, "long name"],
      "folder/deep/link": [0o120_777, "../empty"],
      "folder/empty": [0o100_644, ""],
      "folder/run.sh": [0o100_755, "#!/bin/sh\n"],
    });
  });

  test("leaves out what is excluded, and credentials of git always", async () => {
    await mkdir(at("folder/.git"));
    await writeFile(at("folder/.git/config"), "password");
    await writeFile(at("folder/.git/HEAD"), "ref: refs/heads/main\n");
    await writeFile(at("folder/left.log"), "");
    expect(Object.keys(await packed(["*.log"])).toSorted()).toEqual([
      "folder/",
      "folder/.git/",
      "folder/.git/HEAD",
      "folder/deep/",
    ]);
  });

  test("says in a note what is neither file, folder nor link", async () => {
    expect(spawnSync("mkfifo", [at("folder/pipe")]).status).toBe(0);
    const note = "Not in this archive:\n\nfolder/pipe: neither a file nor a directory nor a link\n";
    expect((await packed())["NOT-INCLUDED.txt"]).toEqual([0o100_644, note]);
  });

  test.skipIf(process.getuid?.() === 0)("contains the rest when something cannot be read", async () => {
    await writeFile(at("folder/closed"), "secret");
    await chmod(at("folder/closed"), 0);
    const note = "Not in this archive:\n\nclosed: Permission denied\n";
    expect((await packed())["NOT-INCLUDED.txt"]).toEqual([0o100_644, note]);
  });
});

test.each(["zip", "tar.gz"] as const)("a %s that is read after tar has exited is whole", async (format) => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), "convoke-archive-"));
  await writeFile(path.join(folder.path, "a.txt"), "content");
  const archive = await openArchive(folder.path, environment, [], format);
  await sleep(300);
  const bytes = await buffer(archive);
  if (format === "zip")
    expect(Object.keys(readZip(bytes)).some((name) => name.endsWith("/a.txt"))).toBe(true);
  else expect(gunzipSync(bytes).toString("latin1")).toContain("content");
});

test("tar's messages about unreadable files are parsed", () => {
  const complaints = [
    "tar: ./a b: Cannot open: Permission denied",
    "tar: ./deep: Cannot open: Permission denied",
    "tar: ./changing: file changed as we read it",
    "tar: Exiting with failure status due to previous errors",
  ].join("\n");
  expect(unreadIn(complaints)).toEqual(["a b: Permission denied", "deep: Permission denied"]);
});

/** Mode and content of each entry, read from the end of the file as programs do. */
function readZip(zip: Buffer): Record<string, unknown> {
  const end = zip.length - 22;
  expect(zip.readUInt32LE(end)).toBe(0x0605_4b50);
  const entries: Record<string, unknown> = {};
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    expect(zip.readUInt32LE(at)).toBe(0x0201_4b50);
    const [crc, packedBytes, plainBytes] = [16, 20, 24].map((field) => zip.readUInt32LE(at + field));
    const nameBytes = zip.readUInt16LE(at + 28);
    const name = zip.toString("utf8", at + 46, at + 46 + nameBytes);
    const start = zip.readUInt32LE(at + 42) + 30 + nameBytes;
    const content = inflateRawSync(zip.subarray(start, start + packedBytes!));
    expect([crc32(content), content.length]).toEqual([crc, plainBytes]);
    entries[name] = [zip.readUInt32LE(at + 38) >>> 16, content.toString()];
    at += 46 + nameBytes;
  }
  expect(at).toBe(end);
  return entries;
}
