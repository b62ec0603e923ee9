import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempDisposableSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { makeApiReports } from "../scripts/api-report.ts";
import { checkPackages } from "../scripts/check-packages.ts";
import { tryPage } from "../scripts/install-cell.ts";
import { builtPackages, pack } from "../scripts/pack-release.ts";
import { PackageRegistry } from "../scripts/package-registry.ts";

const root = path.resolve(import.meta.dirname, "..");
const dist = path.join(root, "dist");

test("the built packages are what npm, Node and TypeScript expect, and packed twice they are the same bytes", () => {
  using first = mkdtempDisposableSync(path.join(tmpdir(), "convoke-pack-"));
  using second = mkdtempDisposableSync(path.join(tmpdir(), "convoke-pack-"));
  const digest = (folder: string, file: string): string =>
    createHash("sha256")
      .update(readFileSync(path.join(folder, file)))
      .digest("hex");
  const packed = builtPackages.map((name) => pack(path.join(dist, name), first.path));
  expect(checkPackages(root, first.path, packed)).toEqual([]);
  for (const name of builtPackages) {
    const { file } = pack(path.join(dist, name), second.path);
    expect(digest(second.path, file)).toBe(digest(first.path, file));
  }
});

test("the command installs from its tarball outside of this clone, prints little and serves the page", async () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-pack-"));
  const packed = pack(path.join(dist, "convoke"), folder.path);
  // It has no package with a Node: npm is told that there is none.
  await using registry = await PackageRegistry.open(folder.path, [packed]);
  const npm = realpathSync(execFileSync("which", ["npm"], { encoding: "utf8" }).trim());
  const problems = await tryPage({
    tools: { bin: path.dirname(process.execPath), npm },
    tarball: path.join(folder.path, packed.file),
    registry: registry.url,
  });
  expect(problems).toEqual([]);
});

test("the reports of the client's exports are current: run npx node scripts/api-report.ts", () => {
  for (const { file, text } of makeApiReports(root))
    expect(readFileSync(path.join(root, file), "utf8")).toBe(text);
});
