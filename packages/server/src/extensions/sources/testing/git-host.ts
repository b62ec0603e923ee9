import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { runGitBackend } from "../../../egress/testing/run-git-backend.ts";
import { openOutside, type OutsideWorld } from "../../../testing/canaries/outside.ts";

const run = promisify(execFile);

/** Files by their path: a text, a text that can be run, or a link. */
export type Tree = Readonly<Record<string, string | { readonly run: string } | { readonly link: string }>>;

/** A git host on 127.0.0.1 with real repositories, reached over HTTPS by the names `git.example.com` and `other.example.com`. */
export type GitHost = AsyncDisposable & {
  readonly ways: OutsideWorld["ways"];
  /** What git logged in with, one for each request; empty where it did not. */
  readonly logins: string[];
  /** Requests of a repository below `private/` need this password. */
  password: string;
  /** Commits a tree in place of what the branch had, and resolves with the commit. `isForced`: without a parent. */
  commit(repository: string, tree: Tree, options?: { branch?: string; isForced?: boolean }): Promise<string>;
  /** Runs git in the repository that is served. */
  git(repository: string, ...args: string[]): Promise<string>;
};

export async function openGitHost(): Promise<GitHost> {
  await using scope = new AsyncDisposableStack();
  const root = await mkdtemp(join(tmpdir(), "cvk-host-"));
  scope.defer(() => rm(root, { recursive: true, force: true }));
  const logins: string[] = [];
  const state = { password: "" };
  const serve: Parameters<typeof openOutside>[0][string] = (request, response) => {
    const login = Buffer.from((request.headers.authorization ?? "").slice(6), "base64").toString();
    logins.push(login);
    const isOpen = !(request.url ?? "").startsWith("/private/");
    if (isOpen || login === `x-access-token:${state.password}`) runGitBackend(root, request, response);
    else response.writeHead(401, { "WWW-Authenticate": 'Basic realm="git"' }).end();
  };
  const world = scope.use(await openOutside({ "git.example.com": serve, "other.example.com": serve }));
  const git = async (repository: string, ...args: string[]): Promise<string> => {
    const identity = [
      "-c",
      "user.name=Ada",
      "-c",
      "user.email=ada@example.com",
      "-c",
      "protocol.allow=always",
    ];
    const { stdout } = await run("git", [...identity, "-C", join(root, `${repository}.git`), ...args]);
    return stdout.trim();
  };
  const owned = scope.move();
  return {
    ways: world.ways,
    logins,
    get password() {
      return state.password;
    },
    set password(value) {
      state.password = value;
    },
    git,
    async commit(repository, tree, { branch = "main", isForced = false } = {}) {
      const folder = join(root, `${repository}.git`);
      await mkdir(dirname(folder), { recursive: true });
      await run("git", ["init", "--quiet", "--bare", `--initial-branch=main`, folder]);
      const work = await mkdtemp(join(root, "work-"));
      for (const [path, entry] of Object.entries(tree)) {
        const file = join(work, path);
        await mkdir(dirname(file), { recursive: true });
        if (typeof entry === "object" && "link" in entry) await symlink(entry.link, file);
        else await writeFile(file, typeof entry === "string" ? entry : entry.run);
        if (typeof entry === "object" && "run" in entry) await chmod(file, 0o755);
      }
      const index = ["--work-tree", work];
      await git(repository, ...index, "add", "--all", "--force", ".");
      const treeId = await git(repository, "write-tree");
      const parent = isForced ? "" : await git(repository, "rev-parse", "--verify", branch).catch(() => "");
      const commit = await git(
        repository,
        "commit-tree",
        treeId,
        "-m",
        "Change it",
        ...(parent === "" ? [] : ["-p", parent]),
      );
      await git(repository, "update-ref", `refs/heads/${branch}`, commit);
      await rm(work, { recursive: true });
      return commit;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
