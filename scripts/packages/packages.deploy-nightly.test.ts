import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempDisposableSync,
  openSync,
  readSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { nodePlatforms } from "../node-platforms.ts";
import { targets } from "./target.ts";

const packages = path.resolve("dist/packages");
const run = promisify(execFile);
const target = targets.find(({ cpu }) => cpu === process.arch);

const find = (pattern: string): string => {
  const [file] = globSync(pattern, { cwd: packages });
  if (file === undefined)
    throw new Error(`There is no ${pattern}: npx node scripts/build-packages.ts makes it.`);
  return path.join(packages, file);
};

beforeAll(() => {
  if (target === undefined) throw new Error(`There are no packages for ${process.arch}.`);
});

/** Runs the installed command with nothing of this process's environment: no other Node is found. */
async function convoke(program: string, home: string, ...words: string[]): Promise<string> {
  const { stdout } = await run(program, words, {
    cwd: home,
    env: { PATH: "/usr/bin:/bin", HOME: home },
  });
  return stdout;
}

test("the archive runs where it was unpacked, also through a link", async () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-archive-"));
  execFileSync("tar", ["-xf", find(`convoke-*-linux-${process.arch}.tar.xz`), "-C", folder.path]);
  const [name = ""] = globSync("convoke-*", { cwd: folder.path });
  const link = path.join(folder.path, "convoke");
  execFileSync("ln", ["-s", path.join(name, "bin/convoke"), link]);
  expect(`convoke-${(await convoke(link, folder.path, "--version")).trim()}-linux-${process.arch}`).toBe(
    name,
  );
  const doctor = JSON.parse(await convoke(link, folder.path, "doctor", "--json")) as {
    name: string;
    detail: string;
  }[];
  expect(doctor.find((one) => one.name === "node")?.detail).toMatch(/^24\./);
  expect(await convoke(link, folder.path, "demo")).toContain("That was the full agent loop");
});

const archives = targets.map(
  ({ cpu }) => [cpu, globSync(`convoke-*-linux-${cpu}.tar.xz`, { cwd: packages })[0]] as const,
);

test.each(archives)(
  "every program and library of the archive for %s is for its processor",
  (cpu, archive) => {
    // By day one kind of machine is enough: npx node scripts/build-packages.ts --cpu x64,arm64 makes both.
    if (archive === undefined) return expect(cpu).not.toBe(process.arch);
    using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-archive-"));
    execFileSync("tar", ["-xf", path.join(packages, archive), "-C", folder.path]);
    const found = globSync("**/*", { cwd: folder.path, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .flatMap((file) => {
        const machine = machineOf(file);
        return machine === null ? [] : [[path.basename(file), machine] as const];
      });
    const machine = nodePlatforms.find((platform) => platform.cpu === cpu)?.machine;
    expect(Object.fromEntries(found)).toMatchObject({ node: machine, rg: machine, "pty.node": machine });
    expect(found.filter(([, other]) => other !== machine)).toEqual([]);
  },
);

/** `e_machine` of an ELF file; null for others. */
function machineOf(file: string): number | null {
  const head = Buffer.alloc(20);
  const descriptor = openSync(file, "r");
  readSync(descriptor, head);
  closeSync(descriptor);
  return head.subarray(0, 4).toString("latin1") === "\x7fELF" ? head.readUInt16LE(18) : null;
}

const isRoot = process.geteuid?.() === 0;

test.runIf(isRoot)(
  `the Debian package is installed, runs, is removed and purged${isRoot ? "" : " (skipped: dpkg needs root)"}`,
  async () => {
    using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-dpkg-"));
    chmodSync(folder.path, 0o755);
    const at = (name: string): string => path.join(folder.path, name);
    for (const name of ["etc", "var/lib/dpkg", "var/lib/convoke/data"])
      mkdirSync(at(name), { recursive: true });
    for (const name of ["etc/passwd", "etc/group"]) writeFileSync(at(name), "");
    // Its scripts run outside, and are told where.
    const dpkg = (...words: string[]) =>
      execFileSync(
        "dpkg",
        [`--root=${folder.path}`, "--force-script-chrootless", "--force-depends", ...words],
        {
          stdio: "pipe",
        },
      );
    dpkg("--install", find(`convoke_*_${target?.architecture}.deb`));
    expect(execFileSync("cat", [at("etc/passwd")], { encoding: "utf8" })).toMatch(
      /^convoke:!:\d+:\d+::\/var\/lib\/convoke:\/usr\/sbin\/nologin$/m,
    );
    expect(statSync(at("etc/convoke/environment")).mode & 0o777).toBe(0o600);
    expect(existsSync(at("usr/lib/systemd/system/convoke.service"))).toBe(true);
    const program = at("usr/bin/convoke");
    expect(await convoke(program, folder.path, "--version")).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await convoke(program, folder.path, "demo")).toContain("That was the full agent loop");
    // An upgrade to the same release: the user is there already.
    dpkg("--install", find(`convoke_*_${target?.architecture}.deb`));
    dpkg("--remove", "convoke");
    expect([existsSync(program), existsSync(at("etc/convoke/environment"))]).toEqual([false, true]);
    expect(existsSync(at("usr/lib/convoke"))).toBe(false);
    expect(existsSync(at("var/lib/convoke/data"))).toBe(true);
    dpkg("--purge", "convoke");
    expect([existsSync(at("etc/convoke")), existsSync(at("var/lib/convoke"))]).toEqual([false, false]);
  },
);

const hasLintian = spawnSync("lintian", ["--version"]).status === 0;

test.runIf(hasLintian)(
  `lintian finds no error${hasLintian ? "" : " (skipped: lintian is not installed)"}`,
  () => {
    const args = ["--tag-display-limit=0", "--fail-on=error", ...globSync(path.join(packages, "*.deb"))];
    const { status, stdout } = spawnSync("lintian", args, { encoding: "utf8" });
    expect(stdout.split("\n").filter((line) => line.startsWith("E:"))).toEqual([]);
    expect(status).toBe(0);
  },
);
