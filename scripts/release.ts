import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { auditDependencies } from "./audit-dependencies.ts";
import { releaseChangelog } from "./changelog.ts";
import { checkPackages } from "./check-packages.ts";
import { nodePlatforms } from "./node-platforms.ts";
import { type Packed, packRelease, writeChecksums } from "./pack-release.ts";
import { publishCommands } from "./publish-commands.ts";
import { readManifest } from "./publish-manifest.ts";
import { missingTools } from "./release-tools.ts";
import { setRepository } from "./set-repository.ts";
import { setVersion } from "./set-version.ts";
import { findBroken, keepReleased, promisedTexts } from "./stability.ts";

/**
 * Makes a release: `npx node scripts/release.ts 0.2.0 --repository https://HOST/OWNER/NAME`. It writes the version, the changelog, the promises and a data folder of this
 * release, tests, builds, packs, and installs what it packed. Then it prints what to commit and to publish; it publishes by itself only
 * in CI with an identity token, from the commit that has the version. `--dry-run` does all of it and takes the changes back.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "dry-run": { type: "boolean", default: false },
    "without-tests": { type: "boolean", default: false },
    /** For vulnerabilities that were read and do not concern us. */
    "without-audit": { type: "boolean", default: false },
    /** Address of the repository, for every manifest; needed once, then package.json has it. */
    repository: { type: "string" },
    /** Given to the install matrix. */
    nodes: { type: "string", default: "20,22,24,26" },
    untimed: { type: "boolean", default: false },
    /** Of the compression of what is installed without npm, as for build-packages.ts. */
    level: { type: "string", default: "6" },
  },
});
const [version = ""] = positionals;
const root = path.resolve(import.meta.dirname, "..");
const release = path.join(root, "dist/release");
const isDryRun = values["dry-run"];
/** What a release adds to the repository beside the files that are there. */
const added = ["docs/api/released", `packages/server/src/testing/golden/${version}`];

if (positionals.length !== 1 || !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
  fail(
    "name the version: npx node scripts/release.ts 1.2.3 [--repository URL] [--dry-run] [--without-tests]",
  );
const missing = missingTools();
if (missing.length > 0) fail(missing.join("\n"));
if (git("status", "--porcelain") !== "") fail("the working tree has changes: commit them first");
const isPrepared = readText("CHANGELOG.md").includes(`\n## ${version} - `);
if (isPrepared && readManifest(root).version !== version)
  fail(`CHANGELOG.md has ${version}, but the packages are ${readManifest(root).version}`);

if (isPrepared && !isDryRun) setRepository(root, null);

try {
  if (!values["without-audit"]) audit();
  if (!isPrepared) await prepare();
  if (!values["without-tests"])
    for (const script of ["check", "test", "test:int", "test:e2e"]) run("npm", "run", script);
  run("npm", "run", "docs");
  run("npm", "run", "build");
  run("npx", "node", "scripts/api-report.ts", "--check");
  step("pack");
  const packed = packRelease(root, release);
  const problems = checkPackages(root, release, packed);
  if (problems.length > 0) fail(problems.join("\n"));
  run(
    "npx",
    "node",
    "scripts/install-matrix.ts",
    "--packed",
    "--only",
    values.nodes,
    ...(values.untimed ? ["--untimed"] : []),
  );
  const cpus = nodePlatforms.map(({ cpu }) => cpu).join(",");
  run("npx", "node", "scripts/build-packages.ts", "--cpu", cpus, "--level", values.level, "--out", release);
  writeSbom();
  writeChecksums(release);
  finish(packed);
} finally {
  if (isDryRun) takeBack();
}

/** A registry that answers no audits does not keep anybody from releasing. */
function audit(): void {
  step("npm audit");
  const found = auditDependencies(root);
  if (found.type === "found")
    fail(`Dependencies have known vulnerabilities (--without-audit goes on):\n${found.problems.join("\n")}`);
  console.log(
    found.type === "clean"
      ? "No known vulnerabilities in what is published."
      : `Not audited: the registry of npm did not answer (${found.reason}). Run npm audit --omit dev where one does.`,
  );
}

/** What the commit of the release changes. */
async function prepare(): Promise<void> {
  step("repository, changelog, version, promises, data folder");
  // A trial may go without one: nothing is published from it.
  if (!isDryRun || values.repository !== undefined) setRepository(root, values.repository ?? null);
  const day = new Date().toISOString().slice(0, 10);
  const changelog = releaseChangelog(readText("CHANGELOG.md"), version, day);
  writeFileSync(path.join(root, "CHANGELOG.md"), changelog);
  setVersion(root, version);
  const texts = await promisedTexts(root);
  const broken = findBroken(root, texts);
  if (broken.length > 0)
    fail(`${version} may not break what was promised (docs/stability.md):\n${broken.join("\n")}`);
  keepReleased(root, version, texts);
  if (!existsSync(path.join(root, added[1]!)))
    run("npx", "node", "packages/server/src/testing/golden/write-golden.ts", version);
  run("npx", "oxfmt", "CHANGELOG.md", "package.json", "packages/*/package.json");
}

/** What is inside of the packages, those bundled included. */
function writeSbom(): void {
  step("SBOM");
  const args = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev"];
  const text = execFileSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  writeFileSync(path.join(release, `convoke-${version}.cdx.json`), text);
}

function finish(packed: readonly Packed[]): void {
  const commands = publishCommands(packed, version);
  console.log(`\n${version} is in dist/release.`);
  if (!isPrepared)
    console.log(
      `Commit and tag it:\n  git add -A && git commit -m "release: ${version}" && git tag v${version}`,
    );
  console.log(`To publish:\n${commands.map((args) => `  npm ${args.join(" ")}`).join("\n")}`);
  if (isDryRun || !isPrepared || !hasIdentity()) return;
  for (const args of commands) run("npm", ...args);
}

/** CI's proof of who publishes, which npm asks for to state where a package was built. */
function hasIdentity(): boolean {
  const { CI, ACTIONS_ID_TOKEN_REQUEST_TOKEN: ofGitHub, NPM_ID_TOKEN: ofGitLab } = process.env;
  return CI !== undefined && (ofGitHub ?? ofGitLab) !== undefined;
}

/** The tree was clean before. */
function takeBack(): void {
  git("checkout", "--", ".");
  git("clean", "-fdq", "--", ...added.filter((place) => existsSync(path.join(root, place))), "docs/api");
}

function step(what: string): void {
  console.log(`\n== ${what}`);
}

function run(command: string, ...args: readonly string[]): void {
  step([command, ...args].join(" "));
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) fail(`${command} ${args.join(" ")} failed`);
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
}

function readText(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}

function fail(sentence: string): never {
  throw new Error(sentence);
}
