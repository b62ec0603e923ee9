import { spawnSync } from "node:child_process";
import { beforeAll, expect, test } from "vitest";
import { buildOfflineImage, hasEngine, offlineImage } from "./testing/offline-image.ts";

const why = hasEngine ? "" : " (skipped: no container engine answers)";

beforeAll(() => {
  if (hasEngine) buildOfflineImage();
});

test.runIf(hasEngine).each([
  ["a usual container", [], "missing", "This container allows no namespaces."],
  ["one that may make namespaces", ["seccomp=unconfined"], "missing", "This container masks /proc"],
  ["one that hides nothing", ["seccomp=unconfined", "systempaths=unconfined"], "ok", "bubblewrap"],
])(`doctor says in words whether walls work in %s${why}`, (_title, security, state, words) => {
  const options = security.flatMap((option) => ["--security-opt", option]);
  const run = ["--network=none", "--env=CONVOKE_WALL=auto", ...options, offlineImage, "doctor", "--json"];
  const { stdout } = spawnSync("docker", ["run", "--rm", ...run], { encoding: "utf8" });
  const findings = JSON.parse(stdout) as { name: string; state: string; detail: string }[];
  expect(findings.find(({ name }) => name === "wall")).toMatchObject({
    state,
    detail: expect.stringContaining(words),
  });
});
