#!/usr/bin/env node
// Every Node that knows modules must be able to load this file: older ones lack names that newer modules export.
import nodeModule, { createRequire } from "node:module";
import { openCacheFolder } from "./cache-folder.ts";

const oldestNode = 24;

if (Number(process.versions.node.split(".")[0]) < oldestNode) createRequire(import.meta.url)("./launch.cjs");
else void start();

async function start(): Promise<void> {
  // Half of a start is compiling.
  const cacheFolder = openCacheFolder();
  if (cacheFolder !== null) nodeModule.enableCompileCache(cacheFolder);
  const { CONVOKE_LAUNCHER: launcherPid } = process.env;
  delete process.env["CONVOKE_LAUNCHER"];
  if (process.argv[2] === "__complete") {
    // Somebody waits at a prompt: no server and no command is loaded.
    const { main } = await import("./completion/complete.ts");
    await main(process.argv.slice(3));
    return;
  }
  if (process.argv[2] === "tool-host") {
    // It ends with its sandbox, not with the process that started it: no parent is watched.
    const { main } = await import("./tool-host-main.ts");
    await main(process.argv);
    return;
  }
  const { watchParent } = await import("./watch-parent.ts");
  watchParent(launcherPid, () => process.kill(process.pid, "SIGTERM"));
  const { loadMain } = await import("./load-main.ts");
  const { main, keepCompiled } = await loadMain(cacheFolder);
  await main(process.argv, keepCompiled);
}
