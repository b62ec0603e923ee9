import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The sources of another release for starting servers. Disposing it removes them. */
export type ReleaseBeside = Disposable & {
  readonly folder: string;
  /** Description of the release. */
  readonly name: string;
};

const root = fileURLToPath(new URL("../../../../../", import.meta.url));

/**
 * The last release, or without one the sources of so many commits ago, in a separate folder. It uses the packages installed here when it
 * needs the same ones, and installs its own otherwise. Null outside of a clone with enough history.
 */
export function openReleaseBeside(commits: number): ReleaseBeside | null {
  const commit = findRelease() ?? find(`HEAD~${commits}`);
  if (commit === null) return null;
  const folder = mkdtempSync(join(tmpdir(), "convoke-release-"));
  const archive = execFileSync("git", ["archive", commit], { cwd: root, maxBuffer: maxBytes });
  execFileSync("tar", ["--extract", "--directory", folder], { input: archive });
  if (lockOf(commit) === lockOf("HEAD")) linkPackages(folder);
  else
    execFileSync("npm", ["ci", "--no-audit", "--no-fund"], {
      cwd: folder,
      stdio: "ignore",
      timeout: installMs,
    });
  return {
    folder,
    name: commit.slice(0, 12),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const maxBytes = 1 << 30;
const installMs = 600_000;

/** The newest tag before this commit. */
function findRelease(): string | null {
  const tag = git("describe", "--tags", "--abbrev=0", "HEAD^");
  return tag === null ? null : find(tag);
}

function find(name: string): string | null {
  return git("rev-parse", "--verify", "--quiet", `${name}^{commit}`);
}

/** The packages that a commit needs. */
function lockOf(commit: string): string | null {
  return git("rev-parse", `${commit}:package-lock.json`);
}

/** Null when git does not know it. */
function git(...words: readonly string[]): string | null {
  try {
    return execFileSync("git", words, {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return null;
  }
}

/** External packages are linked from here; its own packages are its own. */
function linkPackages(folder: string): void {
  const [from, to] = [join(root, "node_modules"), join(folder, "node_modules")];
  mkdirSync(join(to, "@convoke"), { recursive: true });
  for (const name of readdirSync(from))
    if (name !== "@convoke") symlinkSync(join(from, name), join(to, name));
  for (const name of readdirSync(join(folder, "packages"))) {
    symlinkSync(join(folder, "packages", name), join(to, "@convoke", name));
    // Where another version lies at the root.
    const own = join(root, "packages", name, "node_modules");
    if (existsSync(own)) symlinkSync(own, join(folder, "packages", name, "node_modules"));
  }
}
