import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buildLibraries } from "./build-libraries.ts";
import { composeSource } from "./docs/compose-source.ts";
import { writeProtocolNames } from "./docs/protocol-names.ts";
import { foreignLoads, policyFile, policyOf } from "./docs/page-policy.ts";
import { resolveToolFile } from "./resolve-tool-file.ts";
import { thirdPartyNotices } from "./third-party-notices.ts";

/**
 * Builds the documentation site into `site/dist`, where a server run from the sources finds it, and from where `npm run build` copies it into
 * the published package. The builder's packages are installed in `site` first, unless they are there.
 */
const root = path.resolve(import.meta.dirname, "..");
const site = path.join(root, "site");
const source = path.join(site, ".source");
const built = path.join(site, "dist");
const startedAtMs = performance.now();

installBuilder();
composeSource(root, source);
writeClientReference();
rmSync(built, { recursive: true, force: true });
run("the site", resolveToolFile(site, "vitepress", "vitepress"), "build", site);
writePolicy();
writeNotices();
console.log(`site/dist: built in ${((performance.now() - startedAtMs) / 1_000).toFixed(1)} s`);

function installBuilder(): void {
  const installed = path.join(site, "node_modules/.package-lock.json");
  const lockFile = path.join(site, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lockFile).mtimeMs) return;
  console.log("site: installing the builder's packages");
  const { status } = spawnSync("npm", ["ci"], { cwd: site, stdio: "inherit" });
  if (status !== 0) throw new Error("the packages of site/ cannot be installed");
}

/** From the declarations that are published; the builder's TypeScript reads them, because the workspace's has no API for that. */
function writeClientReference(): void {
  buildLibraries(root, ["client"]);
  writeProtocolNames(path.join(root, "dist/client/lib"), path.join(site, ".cache/protocol.d.ts"));
  run(
    "the reference of the client",
    resolveToolFile(site, "typedoc", "typedoc"),
    "--options",
    path.join(site, "typedoc.json"),
    "--out",
    path.join(source, "reference/client"),
  );
}

function writePolicy(): void {
  const files = readdirSync(built, { recursive: true, encoding: "utf8" });
  const texts = files
    .filter((file) => /\.(html|css|js)$/.test(file))
    .map((file) => ({ file, text: readFileSync(path.join(built, file), "utf8") }));
  const foreign = texts.flatMap(({ file, text }) => foreignLoads(file, text).map((url) => `${file}: ${url}`));
  if (foreign.length > 0) throw new Error(`pages load from other origins:\n${foreign.join("\n")}`);
  const pages = texts.filter(({ file }) => file.endsWith(".html")).map(({ text }) => text);
  writeFileSync(path.join(built, policyFile), policyOf(pages));
}

function writeNotices(): void {
  const files = JSON.parse(readFileSync(path.join(site, ".cache/bundled.json"), "utf8")) as string[];
  writeFileSync(path.join(built, "THIRD-PARTY-NOTICES.txt"), thirdPartyNotices(files));
}

function run(what: string, ...command: readonly string[]): void {
  const { status } = spawnSync(process.execPath, command, { cwd: site, stdio: "inherit" });
  if (status !== 0) throw new Error(`${what} cannot be built`);
}
