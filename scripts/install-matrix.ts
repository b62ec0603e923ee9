import { globSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { type CellDeps, tryInstall, tryWithoutOptional } from "./install-cell.ts";
import { hasTmux } from "./install-chat.ts";
import { openTools } from "./install-place.ts";
import { packRelease } from "./pack-release.ts";
import { PackageRegistry, readPacked } from "./package-registry.ts";
import { readManifest } from "./publish-manifest.ts";

/**
 * Installs what `npm run build` wrote as users would, with each Node and npm that they may have: see docs/guides/operate.md.
 * `--only 20,24` picks Nodes, `--npm 11` an npm; `--untimed` lets a busy machine take its time, `--packed` takes `dist/release` as it is.
 */
const { values } = parseArgs({
  options: {
    only: { type: "string", default: "20,22,24,26" },
    npm: { type: "string", default: "10,11" },
    packed: { type: "boolean", default: false },
    untimed: { type: "boolean", default: false },
  },
});
const root = path.resolve(import.meta.dirname, "..");
/** From nothing to the first page. */
const longestColdMs = 20_000;
const longestWarmMs = 10_000;

const release = path.join(root, "dist/release");
const packed = values.packed ? readPacked(release) : packRelease(root, release);
await using registry = await PackageRegistry.open(release, packed);
const command = packed.find(({ name }) => name === "convoke")!;
const golden = globSync("packages/server/src/testing/golden/*/data", { cwd: root });
let hasFailed = false;
if (!hasTmux) console.log("skipped convoke chat: tmux is not installed");

for (const node of values.only.split(",")) {
  for (const npm of values.npm.split(",")) {
    const deps = depsOf(node, npm);
    const { problems, lines, coldMs, warmMs } = await tryInstall(deps);
    const slow = [
      ...(coldMs > longestColdMs
        ? [`first page after ${seconds(coldMs)} with an empty cache, not 20 s`]
        : []),
      ...(warmMs > longestWarmMs ? [`first page after ${seconds(warmMs)} with a full cache, not 10 s`] : []),
    ];
    const times = `${lines} lines, first page after ${seconds(coldMs)} cold, ${seconds(warmMs)} warm`;
    report(`node ${node}, npm ${npm}: ${times}`, [...problems, ...(values.untimed ? [] : slow)]);
  }
  const npm = values.npm.split(",").at(-1)!;
  const problems = await tryWithoutOptional(depsOf(node, npm));
  report(`node ${node}, npm ${npm}, without optional packages`, problems);
}
if (hasFailed) process.exitCode = 1;

function depsOf(node: string, npm: string): CellDeps {
  return {
    tools: openTools(root, node, npm),
    tarball: path.join(release, command.file),
    version: readManifest(root).version,
    registry: registry.url,
    golden: golden.map((data) => path.join(root, path.dirname(data))),
  };
}

function report(what: string, problems: readonly string[]): void {
  if (problems.length > 0) hasFailed = true;
  console.log(`${problems.length === 0 ? "ok    " : "failed"}  ${what}`);
  for (const problem of problems) console.log(problem.trimEnd().replaceAll(/^/gm, "        "));
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
