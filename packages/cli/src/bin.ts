#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

const oldestNode = 24;
const major = Number(process.versions.node.split(".")[0]);
if (major < oldestNode) {
  console.error(
    `Convoke needs Node ${oldestNode} or newer, this is ${process.versions.node}. In a checkout, start it with "npm run" or "npx", which bring the right one.`,
  );
  process.exit(2);
}
// Half of a start is compiling. In the caller's own folder, not in the shared one for temporary files, where others could
// put programs; where it cannot be written Node goes on without it.
enableCompileCache(join(homedir(), ".cache", "convoke"));
const { main } = await import("./main.ts");
await main(process.argv);
