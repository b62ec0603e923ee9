import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempDisposableSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { runInstalled } from "./run-installed.ts";
import { targets } from "./target.ts";

const target = targets.find(({ cpu }) => cpu === process.arch);
const isRoot = process.geteuid?.() === 0;
const isInstalled = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;
const can = isRoot && isInstalled("dpkg-deb") && target?.strippers.some(isInstalled) === true;
const why = can ? "" : " (skipped: needs root, dpkg, binutils, and a machine of x64 or arm64)";

/** The one of `build-packages.ts` when that has run since the last build, or one that is packed quickly into `folder`. */
function providePackage(folder: string): string {
  const name = `convoke_*_${target?.architecture}.deb`;
  const [built] = globSync(`dist/packages/${name}`);
  if (built !== undefined) return built;
  const words = ["--only", "deb", "--level", "none", "--out", folder];
  execFileSync(process.execPath, ["scripts/build-packages.ts", ...words], { stdio: "inherit" });
  return path.join(folder, globSync(name, { cwd: folder })[0] ?? "");
}

test.runIf(can)(
  `the Debian package is installed with dpkg --root, runs, is removed and purged${why}`,
  async () => {
    using packed = mkdtempDisposableSync(path.join(tmpdir(), "convoke-packed-"));
    const file = providePackage(packed.path);
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
    dpkg("--install", file);
    expect(execFileSync("cat", [at("etc/passwd")], { encoding: "utf8" })).toMatch(
      /^convoke:!:\d+:\d+::\/var\/lib\/convoke:\/usr\/sbin\/nologin$/m,
    );
    expect(statSync(at("etc/convoke/environment")).mode & 0o777).toBe(0o600);
    expect(existsSync(at("usr/lib/systemd/system/convoke.service"))).toBe(true);
    const program = at("usr/bin/convoke");
    expect(await runInstalled(program, folder.path, "--version")).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await runInstalled(program, folder.path, "demo")).toContain("That was the full agent loop");
    // An upgrade to the same release: the user is there already.
    dpkg("--install", file);
    dpkg("--remove", "convoke");
    expect([existsSync(program), existsSync(at("etc/convoke/environment"))]).toEqual([false, true]);
    expect(existsSync(at("usr/lib/convoke"))).toBe(false);
    expect(existsSync(at("var/lib/convoke/data"))).toBe(true);
    dpkg("--purge", "convoke");
    expect([existsSync(at("etc/convoke")), existsSync(at("var/lib/convoke"))]).toEqual([false, false]);
  },
);
