import { join } from "node:path";
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
  await using scope = new AsyncDisposableStack();
  const bench = scope.use(
    await WallBench.open({}, (home) => ({
      PATH: [...Object.values(homePrograms).map((path) => join(home, path, "..")), process.env["PATH"]].join(
        ":",
      ),
    })),
  );
  const secret = `secret-${Math.random().toString(36).slice(2)}`;
  await fillHome(bench.home, secret);
  const linked = join(bench.root, "linked");
  await openLaterFolder(bench.folder, linked, join(bench.root, "scratch"));
  const opened = await openEscapeTargets({ dataDir: bench.dataDir, secret, home: bench.home }, scope);
  const attempts = escapeAttempts({ ...opened, ...insideWall, workspace: bench.folder });
  const terminal = await bench.terminal({ network: "all" });
  const other = await bench.terminal({ rootId: "two", folder: linked });
  const results = [
    await runEscapes(attempts, bench.folder, (command) => terminal(command, 240)),
    await runEscapes(laterAttempts, bench.folder, (command) => terminal(command, 240), 1),
    await runEscapes(linkedAttempts, linked, (command) => other(command, 240), 1),
  ];
  return new Map(results.flatMap((map) => [...map]));
}
