import { cpSync, existsSync, rmSync } from "node:fs";
import path from "node:path";
import { buildCommand } from "./build-command.ts";
import { buildLibraries } from "./build-libraries.ts";
import { buildWeb } from "./build-web.ts";
import { compileProgram } from "./compile-program.ts";

/** Builds the published packages: `dist/convoke` (the command, with the page in `web`), `dist/protocol` and `dist/client` (libraries). */
const root = path.resolve(import.meta.dirname, "..");
const startedAtMs = performance.now();

rmSync(path.join(root, "dist"), { recursive: true, force: true });
const command = await buildCommand(root, path.join(root, "dist", "convoke"));
console.log(
  `dist/convoke: ${command.entries.length} entries, ${command.assets.length} assets, ${command.bytes} bytes`,
);
console.log(`dist/convoke/lib/${await compileProgram(path.join(root, "dist", "convoke", "lib"))}`);
// The command expects the page beside its own folder: `../web` from `lib/bin.js`.
cpSync(await buildWeb(root), path.join(root, "dist", "convoke", "web"), { recursive: true });
console.log("dist/convoke/web");
// A release runs `npm run docs` first; nothing else needs the documentation in the package.
const docs = path.join(root, "site", "dist");
if (existsSync(docs)) {
  cpSync(docs, path.join(root, "dist", "convoke", "docs"), { recursive: true });
  console.log("dist/convoke/docs");
}
for (const library of buildLibraries(root, ["protocol", "client"])) console.log(`dist/${library}`);
console.log(`built in ${((performance.now() - startedAtMs) / 1_000).toFixed(1)} s`);
