import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstat } from "node:fs/promises";
import { basename, join, posix } from "node:path";
import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { holdOutput } from "../processes/hold-output.ts";
import { toTarExcludes } from "./exclude-patterns.ts";
import { tarEntries } from "./tar-entries.ts";
import { withLastEntry, type ArchiveCounts } from "./tar-manifest.ts";
import type { ArchiveFormat } from "./workspace.ts";
import { zipOfEntries } from "./zip-of-entries.ts";

/** Maximum number of unreadable files that are listed by name. */
const maxComplaintBytes = 64 * 1024;
const noteName = "NOT-INCLUDED.txt";

/**
 * A directory as one file, in a folder of its own name, without git's files for addresses and credentials. A tar file ends with an
 * error when tar fails, so that an incomplete one is never taken for complete; a ZIP file has a note of unreadable files.
 */
export async function openArchive(
  directory: string,
  environment: Readonly<Record<string, string>>,
  exclude: readonly string[] = [],
  format: ArchiveFormat = "tar.gz",
): Promise<Readable> {
  const patterns = [
    ...gitSecrets,
    ...((await isGitFolder(directory)) ? gitSecretsInside : []),
    ...toTarExcludes(exclude),
  ];
  const form = ["--format=gnu", ...(format === "zip" ? ["--hard-dereference"] : []), "-cf"];
  const child = spawn(
    "tar",
    ["-C", directory, ...patterns, ...inFolder(basename(directory)), ...form, "-", "."],
    {
      env: { ...environment, LC_ALL: "C" },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const output = holdOutput(child.stdout);
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (complaints.length < maxComplaintBytes) complaints += chunk.toString();
  });
  const { promise: exited, resolve } = Promise.withResolvers<number | null>();
  child.once("close", resolve);
  try {
    await once(child, "spawn");
  } catch (error) {
    throw new Error("An archive needs the program tar, which is not installed here.", { cause: error });
  }
  const check = async (unread: readonly string[]): Promise<void> => {
    const code = await exited;
    // 1: a file changed while it was read, which is normal in a workspace. 2: something could not be read, or worse.
    if (code !== 0 && code !== 1 && (code !== 2 || unread.length === 0))
      throw new Error(`tar failed with code ${code}.`);
  };
  const noteOf = async (leftOut: readonly string[]): Promise<{ name: string; text: string } | null> => {
    await exited;
    const unread = unreadIn(complaints);
    await check(unread);
    const missing = [...unread, ...leftOut];
    if (missing.length === 0) return null;
    return { name: noteName, text: `Not in this archive:\n\n${missing.join("\n")}\n` };
  };
  const archive = Readable.from(
    format === "zip"
      ? zipOfEntries(tarEntries(output), noteOf)
      : gzipped(
          withLastEntry(output, manifestName(directory), async (counts) => {
            await check([]);
            return manifestOf(directory, exclude, counts);
          }),
        ),
    { objectMode: false },
  );
  // Destroyed before its end: tar would wait for ever to write the rest.
  archive.once("close", () => child.kill());
  return archive;
}

/** Parses tar's messages: name and reason of each unreadable file. */
export function unreadIn(complaints: string): readonly string[] {
  return [...complaints.matchAll(/^tar: (?:\.\/)?(.+): Cannot \w+: (.+)$/gm)].map(
    ([, name = "", reason = ""]) => `${name}: ${reason}`,
  );
}

/** Where a repository, or one inside it, stores addresses with passwords, and their history. */
const secretNames = ["config", "config.lock", "config.worktree", "logs", "FETCH_HEAD", "credentials"];
const gitSecrets = [
  "--anchored",
  ...secretNames.flatMap((name) =>
    ["*.git", "*.git/modules/*", "*.git/worktrees/*"].map((folder) => `--exclude=./${folder}/${name}`),
  ),
  "--no-anchored",
  "--exclude=.git-credentials",
];
const gitSecretsInside = [
  "--anchored",
  ...secretNames.flatMap((name) =>
    ["", "modules/*/", "worktrees/*/"].map((folder) => `--exclude=./${folder}${name}`),
  ),
  "--no-anchored",
];

/** A folder that git would recognise as a repository, whatever its name is. */
async function isGitFolder(directory: string): Promise<boolean> {
  const parts = ["HEAD", "objects", "refs"].map(async (name) =>
    lstat(join(directory, name)).then(
      () => true,
      () => false, // Missing, or unreadable for tar too.
    ),
  );
  return (await Promise.all(parts)).every(Boolean);
}

/** Entries begin with the folder's name; the targets of symbolic links stay as they are. */
function inFolder(name: string): string[] {
  // The root directory has no name, and a name with a line end cannot be passed to tar.
  if (name === "" || name.includes("\n")) return [];
  const quoted = name.replaceAll(/[\\&,]/g, String.raw`\$&`);
  return [String.raw`--transform=s,^\.\(/\|$\),${quoted}\1,S`];
}

function manifestName(directory: string): string {
  return posix.join(basename(directory), "archive_manifest.json");
}

/** Describes the content of the archive and what was left out. Source: agent-server 1.58. */
function manifestOf(directory: string, excludes: readonly string[], { files, bytes }: ArchiveCounts): string {
  const manifest = {
    excludes,
    file_count: files,
    format: "tar.gz",
    source: basename(directory),
    total_bytes: bytes,
  };
  return JSON.stringify(manifest, null, 2);
}

async function* gzipped(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const source = Readable.from(content, { objectMode: false });
  const gzip = createGzip();
  source.once("error", (error) => gzip.destroy(error));
  try {
    yield* source.pipe(gzip) as AsyncIterable<Buffer>;
  } finally {
    source.destroy();
  }
}
