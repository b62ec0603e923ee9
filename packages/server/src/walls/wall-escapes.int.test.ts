import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findBubblewrap, ownAccount } from "../sandboxes/find-bubblewrap.ts";
import { attemptsOutside } from "../sandboxes/testing/attempts-outside.ts";
import { escapeAttempts } from "../sandboxes/testing/escape-attempts.ts";
import { openEscapeTargets, runEscapes } from "../sandboxes/testing/run-escapes.ts";
import { WallBench } from "./testing/wall-bench.ts";

const probe = await findBubblewrap({
  self: ownAccount(),
  unprivileged: { uid: 65_534, gid: 65_534 },
  environment: process.env,
});
const insideWall = {
  workspace: "",
  programFiles: ["/run/convoke-program/files/package.json", "/run/convoke-program/bin/node"],
  ownFiles: "/(walls/run/[^ ]*/log|conversations/one/wall/.*)$",
};
const nowhere = {
  dataDir: "",
  secretFile: "",
  secret: "",
  otherDir: "",
  hostPid: 0,
  tcpPort: 0,
  openDir: "",
};
const names = escapeAttempts({ ...nowhere, unixSocket: "", abstractSocket: "", home: "", ...insideWall }).map(
  ([name]) => name,
);

const shown = attemptsOutside();
const run = promisify(execFile);

// The folder is that of the tests' user: a server of root works in a folder of root's, with the widest view that a wall has.
describe.skipIf(!probe.isUsable || process.arch !== "x64")(
  `needs a working bubblewrap (${probe.detail})`,
  () => {
    const scope = new AsyncDisposableStack();
    let results: ReadonlyMap<string, string>;
    let outside: ReadonlyMap<string, string>;

    beforeAll(async () => {
      const bench = scope.use(await WallBench.open());
      const terminal = await bench.terminal();
      const places = { ...insideWall, workspace: bench.folder, home: homedir() };
      const targets = { ...(await openEscapeTargets(bench.dataDir, scope)), ...places };
      results = await runEscapes(targets, bench.folder, (command) => terminal(command, 240));
      const withoutWall = async (command: string): Promise<unknown> =>
        await run("bash", ["-c", command], { cwd: bench.folder, timeout: 240_000 });
      outside = await runEscapes(targets, bench.folder, withoutWall, shown);
    }, 300_000);

    afterAll(() => scope.disposeAsync());

    test.each(names)("escape from a wall: %s", (name) => {
      expect(results.get(name)).not.toMatch(/ESCAPED|not run/);
    });

    test.each(shown)("the same without a wall gets out: %s", (name) => {
      expect(outside.get(name)).toMatch(/ESCAPED/);
    });
  },
);
