import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstat } from "node:fs/promises";
import { basename, join } from "node:path";
import { Readable } from "node:stream";

/**
 * A directory as tar.gz, in a folder of its own name, without what git keeps of addresses and credentials; ends with an error when tar fails, so
 * that a part is never taken for the whole.
 */
export async function openArchive(
  directory: string,
  environment: Readonly<Record<string, string>>,
  exclude: readonly string[] = [],
): Promise<Readable> {
  const patterns = [
    ...gitSecrets,
    ...((await isGitFolder(directory)) ? gitSecretsInside : []),
    ...exclude.map((pattern) => `--exclude=${pattern}`),
  ];
  const child = spawn(
    "tar",
    ["-C", directory, ...patterns, ...inFolder(basename(directory)), "-czf", "-", "."],
    {
      env: environment,
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  try {
    await once(child, "spawn");
  } catch (error) {
    throw new Error("An archive needs the program tar, which is not installed here.", { cause: error });
  }
  const { promise: exited, resolve } = Promise.withResolvers<number | null>();
  child.once("exit", resolve);
  const archive = followedBy(child.stdout, async () => {
    const code = await exited;
    // 1: a file changed while it was read, which a workspace that is in use does.
    if (code !== 0 && code !== 1) throw new Error(`tar failed with code ${code}.`);
  });
  // Given up before its end: tar would wait for ever to write the rest.
  archive.once("close", () => child.kill());
  return archive;
}

/** Where addresses with passwords, and their history, lie in a repository, of it and of those inside. */
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

/** A folder that git would take for a repository, whatever its name is. */
async function isGitFolder(directory: string): Promise<boolean> {
  const parts = ["HEAD", "objects", "refs"].map(async (name) =>
    lstat(join(directory, name)).then(
      () => true,
      () => false, // Not there, or not to be seen by tar either.
    ),
  );
  return (await Promise.all(parts)).every(Boolean);
}

/** Entries begin with the folder's name; the targets of symbolic links stay as they are. */
function inFolder(name: string): string[] {
  // The root of the machine has no name, and one with a line end cannot be told to tar.
  if (name === "" || name.includes("\n")) return [];
  const quoted = name.replaceAll(/[\\&,]/g, String.raw`\$&`);
  return [String.raw`--transform=s,^\.\(/\|$\),${quoted}\1,S`];
}

/** The same content, which is only complete once `check` has passed. */
function followedBy(content: Readable, check: () => Promise<void>): Readable {
  return Readable.from(
    (async function* () {
      yield* content as AsyncIterable<Buffer>;
      await check();
    })(),
    { objectMode: false },
  );
}
