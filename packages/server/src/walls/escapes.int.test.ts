import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { rename, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createBubblewrapBackend } from "../sandboxes/bubblewrap.ts";
import { DockerBackend } from "../sandboxes/docker.ts";
import { findBubblewrap, ownAccount } from "../sandboxes/find-bubblewrap.ts";
import { findContainerEngine } from "../sandboxes/open-sandbox.ts";
import { isOut } from "../sandboxes/testing/escapes/escape-attempt.ts";
import { escapeAttempts } from "../sandboxes/testing/escapes/escape-attempts.ts";
import { escapeFromSandbox, escapeWithout } from "../sandboxes/testing/escapes/escape-places.ts";
import {
  type Column,
  type PlaceResults,
  withEscapeTable,
} from "../sandboxes/testing/escapes/escape-table.ts";
import { fillHome, insideSandbox } from "../sandboxes/testing/escapes/escape-targets.ts";
import { laterAttempts, linkedAttempts } from "../sandboxes/testing/escapes/later-attempts.ts";
import { whyNoCopy } from "../sandboxes/testing/escapes/machine-copy.ts";
import { otherTests } from "../sandboxes/testing/escapes/other-tests.ts";
import { testedEngines } from "../sandboxes/testing/tested-engines.ts";
import { escapeFromContainerWall, escapeFromWall } from "./testing/escape-from-wall.ts";
import { testContainers } from "./testing/test-containers.ts";
import { WallBench } from "./testing/wall-bench.ts";

const self = ownAccount();
const unprivileged = { uid: 65_534, gid: 65_534 };
const bubblewrap = await findBubblewrap({ self, unprivileged, environment: process.env });
const [docker, podman] = await Promise.all(
  [testedEngines.docker, testedEngines.podman].map(findContainerEngine),
);
const wallEngine = await findContainerEngine(testContainers().place);
const noCopy = await whyNoCopy();
const isKnown = process.arch === "x64";
const nothing = { dataDir: "", secretFile: "", secret: "", otherDir: "", hostPid: 0, tcpPort: 0 };
const nowhere = { unixSocket: "", abstractSocket: "", otherEgress: "", openDir: "", home: "" };
const everywhere = escapeAttempts({ ...nothing, ...nowhere, ...insideSandbox });
const attempts = [...everywhere, ...laterAttempts, ...linkedAttempts];
const results: Partial<Record<Column, PlaceResults>> = {};

const inContainer = (place: { readonly socketPath: string; readonly image: string }): Promise<PlaceResults> =>
  escapeFromSandbox(({ deps }) => new DockerBackend({ ...deps, ...place, self, unprivileged }));
const places = [
  ["Wall", bubblewrap, escapeFromWall],
  ["Container wall", wallEngine, escapeFromContainerWall],
  [
    "Bubblewrap",
    bubblewrap,
    () => escapeFromSandbox(({ deps }) => createBubblewrapBackend({ ...deps, self, unprivileged })),
  ],
  ["Docker", docker!, () => inContainer(testedEngines.docker)],
  ["Podman", podman!, () => inContainer(testedEngines.podman)],
] as const;

describe.skipIf(!isKnown)("attempts to escape need the system calls of x86-64", () => {
  test.skipIf(noCopy !== null)(
    `each gets out where no wall is (a copy of the machine: ${noCopy ?? "works"})`,
    async () => {
      const seen = (results.Without = await escapeWithout());
      const failed = attempts.filter(({ name }) => !/^(ESCAPED|absent$)/.test(seen.get(name) ?? "not run"));
      expect(failed.map(({ name }) => [name, seen.get(name)])).toEqual([]);
      expect([...seen.values()].filter((outcome) => outcome === "absent").length).toBeLessThan(10);
    },
  );

  for (const [column, finding, escape] of places)
    test.skipIf(!finding.isUsable)(`none gets out: ${column} (${finding.detail})`, async () => {
      const seen = (results[column] = await escape());
      const out = [...seen].filter(([, outcome]) => isOut(outcome));
      expect(out).toEqual([]);
      const all = column.endsWith("all") ? attempts : everywhere;
      expect([...seen.keys()].toSorted()).toEqual(all.map(({ name }) => name).toSorted());
    });

  test("docs/security.md has the table of this machine's places; CONVOKE_WRITE_TABLES=1 writes it", () => {
    const place = join(import.meta.dirname, "../../../..", "docs/security.md");
    const page = readFileSync(place, "utf8");
    const written = withEscapeTable(page, attempts, results);
    if (process.env["CONVOKE_WRITE_TABLES"] === "1") writeFileSync(place, written);
    else
      expect(page.replaceAll("not in this kernel", "gets out")).toBe(
        written.replaceAll("not in this kernel", "gets out"),
      );
  });
});

test("each of the sixty numbers of the design has an attempt, or a test that exists", () => {
  const numbers = new Set([...attempts, ...otherTests].map(({ number }) => number));
  expect([...Array(60).keys()].map((index) => index + 1).filter((number) => !numbers.has(number))).toEqual(
    [],
  );
  expect(new Set(attempts.map(({ name }) => name)).size).toBe(attempts.length);
  for (const { file, title } of otherTests)
    expect(readFileSync(join(import.meta.dirname, "../../..", file), "utf8"), file).toContain(title);
});

describe.skipIf(!bubblewrap.isUsable)(`needs a working bubblewrap (${bubblewrap.detail})`, () => {
  test("17: a working folder that is a link to the data folder is refused", async () => {
    await using bench = await WallBench.open();
    const link = join(bench.root, "link");
    await symlink(bench.dataDir, link);
    await expect(bench.walls.open(bench.order({ folder: link }))).rejects.toThrow("data folder");
  });

  test("a repository whose configuration names a file behind a link shows nothing of the home", async () => {
    await using bench = await WallBench.open();
    await fillHome(bench.home, "the secret");
    await promisify(execFile)("git", ["init", "-q", bench.folder]);
    await symlink(join(bench.home, ".ssh"), join(bench.folder, "keys"));
    await writeFile(
      join(bench.folder, ".git/config"),
      "[core]\n\trepositoryformatversion = 0\n\thooksPath = keys/id_ed25519\n",
    );
    const terminal = await bench.terminal();
    expect(await terminal(`cat keys/id_ed25519 ${bench.home}/.ssh/id_ed25519`)).not.toContain("the secret");
  });

  test("18: a working folder that is swapped for a link while a wall starts shows nothing else", async () => {
    await using bench = await WallBench.open();
    await writeFile(join(bench.dataDir, "master-key"), "the secret");
    const [folder, other] = [bench.folder, join(bench.root, "other")];
    const stop = new AbortController();
    let swaps = 0;
    const swapping = (async () => {
      for (; !stop.signal.aborted; swaps += 1) {
        await rename(folder, other);
        await symlink(bench.dataDir, folder);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
        await unlink(folder);
        await rename(other, folder);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      }
    })();
    const seen: string[] = [];
    for (const rootId of ["one", "two", "three", "four", "five"]) {
      try {
        const terminal = await bench.terminal({ rootId });
        seen.push(
          await terminal(
            `cat master-key ${folder}/master-key ${bench.dataDir}/master-key; ls -A . ${folder}`,
          ),
        );
      } catch (error) {
        // A start that found the link is refused.
        seen.push(String(error));
      }
    }
    stop.abort();
    await swapping;
    expect(swaps).toBeGreaterThan(1);
    expect(seen.join("\n")).not.toContain("the secret");
  });
});
