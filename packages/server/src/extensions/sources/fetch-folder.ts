import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolHost } from "@convoke/tool-host";
import type { BoundSecret } from "../../egress/egress.ts";
import type { EgressPolicies } from "../../egress/policy/egress-policy.ts";
import { Fault } from "../../lib/fault.ts";
import { folderBounds, type CopiedFile } from "./folder-content.ts";
import { followLink, linkLeadsOut, parseTree, planTree, unusable, type TreePlan } from "./git-tree.ts";
import { runGit, type GitEnd, type GitPlace } from "./git-program.ts";
import { openGitWay, type GitWay, type GitWayDeps } from "./git-way.ts";
import type { GitSource } from "./extension-source.ts";

export type FetchDeps = {
  readonly ways: GitWayDeps;
  /** Where git runs: the server's own. */
  readonly host: Pick<ToolHost, "startProcess">;
};

export type FetchOrder = {
  readonly userId: string;
  readonly source: GitSource;
  readonly limitedBy: EgressPolicies["limitedBy"];
  /** What the host gets as a password, where it asks for one. */
  readonly secret: BoundSecret | null;
  readonly timeoutMs: number;
};

/** A folder of a repository, as it is at one commit. */
export type FetchedFolder = {
  readonly commit: string;
  readonly files: readonly CopiedFile[];
  /** Folders of it that are repositories of their own, and were not fetched. */
  readonly submodules: readonly string[];
};

const maxPackBytes = 64 * 1024 * 1024;
const maxListingBytes = 1024 * 1024;
/** Each file comes with one line about it. */
const maxContentBytes = folderBounds.bytes + folderBounds.files * 200;

/**
 * Fetches one commit and reads a folder of it, without a working tree: git writes no file of the repository, so that no link, name or
 * filter of it has an effect. Throws a `Fault` that says what to change.
 */
export async function fetchFolder(
  { ways, host }: FetchDeps,
  { userId, source, limitedBy, secret, timeoutMs }: FetchOrder,
): Promise<FetchedFolder> {
  const folder = await mkdtemp(join(tmpdir(), "cvk-git-"));
  try {
    await mkdir(join(folder, "home"));
    await using way = await openGitWay(ways, {
      userId,
      folder,
      target: source.target,
      limitedBy,
      secret,
      maxBytes: maxPackBytes,
    });
    const place: GitPlace = { host, folder, signal: AbortSignal.timeout(timeoutMs) };
    await run(place, ["init", "--quiet", "--bare", "--template=", "."], 1_024);
    const wanted = source.ref ?? "HEAD";
    const options = ["--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance"];
    const fetched = await runGit(place, ["fetch", ...options, source.address, wanted], 64 * 1024, {
      settings: [`http.proxy=${way.proxy}`, ...loginOf(secret)],
    });
    if (!fetched.ok) throw whyNotFetched(fetched, way, source, timeoutMs);
    const named = await run(place, ["rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}"], 1_024);
    const commit = named.toString("utf8").trim();
    if (source.ref !== null && /^[0-9a-f]{40,}$/.test(source.ref) && source.ref !== commit)
      throw unusable(
        `the host answered with the commit ${commit.slice(0, 12)} instead of the one asked for.`,
      );
    const plan = await readTree(place, source, commit);
    return { commit, files: await readFiles(place, plan), submodules: plan.submodules };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A placeholder: the way out puts the token in. The second setting is a command of git's own shell. */
function loginOf(secret: BoundSecret | null): string[] {
  if (secret === null) return [];
  const { placeholder } = secret;
  return [`credential.helper=!echo username=x-access-token; echo password=${placeholder}; #`];
}

async function readTree(place: GitPlace, { inside }: GitSource, commit: string): Promise<TreePlan> {
  const tree = inside === "" ? `${commit}^{tree}` : `${commit}:${inside}`;
  const type = await runGit(place, ["cat-file", "-t", tree], 1_024);
  if (!type.ok || type.output.toString().trim() !== "tree") {
    const msg = `The repository has no folder ${JSON.stringify(inside)} at ${commit.slice(0, 12)}.`;
    throw new Fault("caller", "validation", msg, [{ loc: ["body", "repo_path"], msg, type: "value_error" }]);
  }
  const listed = await runGit(place, ["ls-tree", "-r", "-z", "--long", tree], maxListingBytes);
  if (listed.ok) return planTree(parseTree(listed.output));
  if (listed.why === "too much") throw unusable("it has too many files.");
  throw broken(listed);
}

async function readFiles(place: GitPlace, plan: TreePlan): Promise<CopiedFile[]> {
  const objects = [...new Set([...plan.files, ...plan.links].map(({ object }) => object))];
  const input = objects.map((object) => `${object}\n`).join("");
  const read = await runGit(place, ["cat-file", "--batch"], maxContentBytes, { input });
  if (!read.ok) throw broken(read);
  const contents = splitBatch(read.output);
  const contentOf = (object: string): Buffer => contents.get(object) ?? Buffer.alloc(0);
  const files = plan.files.map(({ path, object, isExecutable }) => ({
    path,
    isExecutable,
    bytes: contentOf(object),
  }));
  const byPath = new Map(files.map((file) => [file.path, file]));
  const copies = plan.links.map(({ path, object }): CopiedFile => {
    const end = byPath.get(followLink(path, contentOf(object).toString("utf8")));
    if (end === undefined) throw linkLeadsOut(path);
    return { ...end, path };
  });
  const all = [...files, ...copies];
  if (all.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) > folderBounds.bytes)
    throw unusable("its links lead to more than may be copied.");
  return all;
}

/** What `cat-file --batch` prints: a line with name, type and size, the content, and the end of a line. */
function splitBatch(output: Buffer): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (let at = 0; at < output.byteLength;) {
    const end = output.indexOf(10, at);
    const [, object, size] = /^([0-9a-f]+) blob (\d+)$/.exec(output.toString("latin1", at, end)) ?? [];
    if (object === undefined) throw unusable("one of its files cannot be read.");
    const start = end + 1;
    contents.set(object, output.subarray(start, start + Number(size)));
    at = start + Number(size) + 1;
  }
  return contents;
}

/** For a command that only fails where git does not work at all. */
async function run(place: GitPlace, args: readonly string[], maxBytes: number): Promise<Buffer> {
  const end = await runGit(place, args, maxBytes);
  if (!end.ok) throw broken(end);
  return end.output;
}

type Failed = Extract<GitEnd, { ok: false }>;

function broken({ why, problem }: Failed): Fault {
  const words = why === "too slow" ? "It took too long." : wordsOf(problem);
  return new Fault(
    "not-now",
    "git_failed",
    `The server's git could not read the repository. ${words}`.trim(),
  );
}

function whyNotFetched(
  { why, problem }: Failed,
  way: GitWay,
  { address, ref }: GitSource,
  timeoutMs: number,
): Fault {
  const refusal = way.refusal();
  if (refusal !== null) return new Fault("refused", "network_refused", refusal);
  if (way.isTooLarge())
    return unusable(`its newest commit is larger than ${maxPackBytes / 1024 / 1024} MiB.`);
  if (why === "too slow")
    return new Fault("timeout", "fetch_timed_out", `${address} was not fetched in ${timeoutMs / 1000} s.`);
  if (/could not read Username|Authentication failed|terminal prompts disabled|\b40[13]\b/.test(problem))
    return unusable(
      "it is not there, or it is private. For a private one, store a token as a secret that is bound to its host.",
    );
  if (/couldn't find remote ref|not our ref|unadvertised object/.test(problem)) {
    const msg = `The repository has no ${ref ?? "HEAD"}. It may have been replaced since it was shown.`;
    return new Fault("caller", "validation", msg, [{ loc: ["body", "ref"], msg, type: "value_error" }]);
  }
  return new Fault(
    "bad-gateway",
    "fetch_failed",
    `${address} could not be fetched. ${wordsOf(problem)}`.trim(),
  );
}

/** The last lines that are git's own, without what the host chose to say. */
function wordsOf(problem: string): string {
  const lines = problem
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== "" && !line.startsWith("remote:"))
    .map((line) => line.replaceAll(/\p{Cc}/gu, " "));
  return lines.slice(-2).join(" ").slice(0, 300);
}
