import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, globSync, mkdtempDisposableSync, openSync, readSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { nodePlatforms } from "../node-platforms.ts";
import { runInstalled } from "./run-installed.ts";
import { targets } from "./target.ts";

const packages = path.resolve("dist/packages");

beforeAll(() => {
  if (globSync("*.deb", { cwd: packages }).length === 0)
    throw new Error("There are no packages: npx node scripts/build-packages.ts makes them.");
});

test("the archive runs where it was unpacked, also through a link", async () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-archive-"));
  execFileSync("tar", ["-xf", path.join(packages, archiveOf(process.arch) ?? ""), "-C", folder.path]);
  const [name = ""] = globSync("convoke-*", { cwd: folder.path });
  const link = path.join(folder.path, "convoke");
  execFileSync("ln", ["-s", path.join(name, "bin/convoke"), link]);
  expect(`convoke-${(await runInstalled(link, folder.path, "--version")).trim()}-linux-${process.arch}`).toBe(
    name,
  );
  const doctor = JSON.parse(await runInstalled(link, folder.path, "doctor", "--json")) as {
    name: string;
    detail: string;
  }[];
  expect(doctor.find((one) => one.name === "node")?.detail).toMatch(/^24\./);
  expect(await runInstalled(link, folder.path, "demo")).toContain("That was the full agent loop");
});

const archives = targets.map(({ cpu }) => [cpu, archiveOf(cpu)] as const);

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

function archiveOf(cpu: string): string | undefined {
  return globSync(`convoke-*-linux-${cpu}.tar.xz`, { cwd: packages })[0];
}

/** `e_machine` of an ELF file; null for others. */
function machineOf(file: string): number | null {
  const head = Buffer.alloc(20);
  const descriptor = openSync(file, "r");
  readSync(descriptor, head);
  closeSync(descriptor);
  return head.subarray(0, 4).toString("latin1") === "\x7fELF" ? head.readUInt16LE(18) : null;
}

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
