import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { escapeAttempts } from "../../sandboxes/testing/escapes/escape-attempts.ts";
import type { PlaceResults } from "../../sandboxes/testing/escapes/escape-table.ts";
import { fillHome, homePrograms, openEscapeTargets } from "../../sandboxes/testing/escapes/escape-targets.ts";
import { laterAttempts, linkedAttempts } from "../../sandboxes/testing/escapes/later-attempts.ts";
import { openLaterFolder } from "../../sandboxes/testing/escapes/open-later-folder.ts";
import { runEscapes } from "../../sandboxes/testing/escapes/run-escapes.ts";
import { WallBench } from "./wall-bench.ts";

const insideWall = {
  programFiles: ["/run/convoke-program/files/package.json", "/run/convoke-program/bin/node"],
  ownFiles: "/(walls/run/[^ ]*/log|conversations/(one|two)/wall/.*)$",
} as const;

/**
 * Behind a wall with every host in its policy. The folder is that of the tests' user: a server of root works in a folder of root's, with
 * the widest view that a wall has.
 */
export async function escapeFromWall(): Promise<PlaceResults> {
  return await escapeFrom("bubblewrap");
}

/** The same from a container. Its folders are not root's: the user inside is their owner, and root would read what is the image's. */
export async function escapeFromContainerWall(): Promise<PlaceResults> {
  return await escapeFrom("docker");
}

async function escapeFrom(kind: "bubblewrap" | "docker"): Promise<PlaceResults> {
  await using scope = new AsyncDisposableStack();
  const bench = scope.use(
    await WallBench.open({ kind }, (home) => ({
      PATH: [...Object.values(homePrograms).map((path) => join(home, path, "..")), process.env["PATH"]].join(
        ":",
      ),
    })),
  );
  const secret = `secret-${Math.random().toString(36).slice(2)}`;
  await fillHome(bench.home, secret);
  const linked = join(bench.root, "linked");
  await openLaterFolder(bench.folder, linked, join(bench.root, "scratch"));
  if (kind === "docker" && process.getuid?.() === 0)
    await promisify(execFile)("chown", ["-R", "1000:1000", bench.folder, linked]);
  const opened = await openEscapeTargets({ dataDir: bench.dataDir, secret, home: bench.home }, scope);
  const attempts = escapeAttempts({ ...opened, ...insideWall, workspace: bench.folder });
  const terminal = await bench.terminal({ kind, network: "all" });
  const other = await bench.terminal({ kind, rootId: "two", folder: linked });
  const results = [
    await runEscapes(attempts, bench.folder, (command) => terminal(command, 240)),
    await runEscapes(laterAttempts, bench.folder, (command) => terminal(command, 240), 1),
    await runEscapes(linkedAttempts, linked, (command) => other(command, 240), 1),
  ];
  return new Map(results.flatMap((map) => [...map]));
}
