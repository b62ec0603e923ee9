import { execFile } from "node:child_process";
import { chown } from "node:fs/promises";
import { homedir } from "node:os";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findBubblewrap, ownAccount } from "../sandboxes/find-bubblewrap.ts";
import { attemptsOutside } from "../sandboxes/testing/attempts-outside.ts";
import { findContainerEngine } from "../sandboxes/open-sandbox.ts";
import { escapeAttempts, type EscapeTargets } from "../sandboxes/testing/escape-attempts.ts";
import { openEscapeTargets, runEscapes } from "../sandboxes/testing/run-escapes.ts";
import { testContainers } from "./testing/test-containers.ts";
import { WallBench } from "./testing/wall-bench.ts";

const probe = await findBubblewrap({
  self: ownAccount(),
  unprivileged: { uid: 65_534, gid: 65_534 },
  environment: process.env,
});
const containers = testContainers();
const engine = await findContainerEngine(containers.place);
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
      const targets = await targetsOf(bench, scope);
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

// The folder is not root's: in a container the user of the process is the one that shows, and root would read files of the image.
describe.skipIf(!engine.isUsable || !engine.hasControlGroups || process.arch !== "x64")(
  `needs a container engine (${engine.detail})`,
  () => {
    const scope = new AsyncDisposableStack();
    let results: ReadonlyMap<string, string>;

    beforeAll(async () => {
      const bench = scope.use(await WallBench.open({ kind: "docker", containers: containers.walls }));
      if (process.getuid?.() === 0) await chown(bench.folder, 1000, 1000);
      const terminal = await bench.terminal({ kind: "docker" });
      const targets = await targetsOf(bench, scope);
      results = await runEscapes(targets, bench.folder, (command) => terminal(command, 240));
    }, 300_000);

    afterAll(() => scope.disposeAsync());

    test.each(names)("escape from a container as the wall: %s", (name) => {
      expect(results.get(name)).not.toMatch(/ESCAPED|not run/);
    });
  },
);

async function targetsOf(bench: WallBench, scope: AsyncDisposableStack): Promise<EscapeTargets> {
  const places = { ...insideWall, workspace: bench.folder, home: homedir() };
  return { ...(await openEscapeTargets(bench.dataDir, scope)), ...places };
}
