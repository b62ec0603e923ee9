import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempDisposableSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { buildDebianPackage } from "./packages/debian-package.ts";
import { writeProgramTree } from "./packages/program-tree.ts";
import { type Target, targets } from "./packages/target.ts";

/**
 * Builds what is installed without npm from what `npm run build` wrote: `dist/packages/convoke_VERSION_amd64.deb` and
 * `convoke-VERSION-linux-x64.tar.xz`, with Node inside; `--cpu x64,arm64` chooses the machines, `--out` the folder, `--level 1` packs
 * quickly, `--level none` does not compress the .deb, `--only deb` leaves the archive out. Needs no root.
 */
const root = path.resolve(import.meta.dirname, "..");

const { values } = parseArgs({
  options: {
    cpu: { type: "string", default: process.arch },
    out: { type: "string" },
    level: { type: "string", default: "6" },
    only: { type: "string" },
  },
});
const built = path.join(root, "dist/convoke");
if (!existsSync(path.join(built, "lib/bin.js"))) throw new Error("Run npm run build first.");
const out = path.resolve(values.out ?? path.join(root, "dist/packages"));
mkdirSync(out, { recursive: true });
const { version } = JSON.parse(readFileSync(path.join(built, "package.json"), "utf8")) as {
  readonly version: string;
};
for (const cpu of values.cpu.split(",")) {
  const target = targets.find((one) => one.cpu === cpu);
  if (target === undefined) {
    throw new Error(
      `There are no packages for ${cpu}, only for ${targets.map((one) => one.cpu).join(", ")}.`,
    );
  }
  build(target);
}

function build(target: Target): void {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-packages-"));
  const name = `convoke-${version}-linux-${target.cpu}`;
  const tree = path.join(folder.path, name);
  writeProgramTree(root, built, target, tree);
  const builtAt = Number(
    process.env["SOURCE_DATE_EPOCH"] ??
      execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: root, encoding: "utf8" }),
  );
  if (values.only !== "deb") buildArchive(folder.path, name, builtAt);
  const debian = path.join(out, `convoke_${version}_${target.architecture}.deb`);
  buildDebianPackage(
    { root, tree, target, version, builtAt, level: values.level },
    path.join(folder.path, "deb"),
    debian,
  );
  report(debian);
}

function buildArchive(folder: string, name: string, builtAt: number): void {
  const archive = path.join(out, `${name}.tar.xz`);
  rmSync(archive, { force: true });
  const owner = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", `--mtime=@${builtAt}`];
  execFileSync("tar", ["-C", folder, ...owner, "-cJf", archive, name], {
    env: { ...process.env, XZ_OPT: `-${values.level} -T0` },
  });
  report(archive);
}

function report(file: string): void {
  console.log(`${file}: ${(statSync(file).size / 1_000_000).toFixed(1)} MB`);
}
