import { spawnSync } from "node:child_process";
import path from "node:path";

/** Tests that take too long for every commit. Each part can run alone; `npm run test:nightly` runs all, one after another. */
const testing = "packages/server/src/testing";
const browser = "packages/tool-host/src/testing/nightly";
const partly = [
  "bash-agrees.int",
  "canaries.int",
  "crash-harness.int",
  "condensing-crash.int",
  "testing/cuts.int",
  "damaged-pages.int",
  "engine/worktrees.int",
  "flipped-bytes.int",
  "forty-stops.int",
  "git-hostile.int",
  "hostile-commands.int",
  "json-output.int",
  "killed-node.int",
  "loaded.int",
  "many-conversations.int",
  "node-cycles.int",
  "remote-workspace.int",
  "root-jail.int",
  "schedule-kills.int",
  "scheduler.int",
  "several-processes.int",
  "shared-sandboxes.int",
  "sub-agent-worktrees.int",
];
const partlyFast = [
  "automations/scheduler.test",
  "conversation-log.test",
  "engine/scheduler.test",
  "intercepted-fuzz.test",
  "processes/mask.test",
];
const parts = [
  [`${testing}/fuzz/run.ts`, "--count", "100000"],
  [`${testing}/fuzz/run.ts`, "--count", "10000", "--seed", "424242"],
  [`${testing}/strict-logs/run.ts`, "--count", "10000"],
  [`${testing}/nightly/kill-cycles.ts`, "--count", "500"],
  [`${testing}/nightly/backup-cycles.ts`, "--count", "60"],
  [`${testing}/nightly/disk-rounds.ts`, "--count", "100"],
  [`${testing}/nightly/damaged-folders.ts`, "--count", "300"],
  [`${testing}/nightly/node-cycles.ts`, "--count", "300"],
  [`${testing}/nightly/node-cycles.ts`, "--count", "60", "--mixed"],
  [`${testing}/nightly/node-cycles.ts`, "--count", "300", "--pooled"],
  [`${testing}/nightly/schedule-kills.ts`, "--schedules", "1000", "--kills", "20", "--seconds", "300"],
  [
    `${testing}/nightly/schedule-kills.ts`,
    "--schedules",
    "200",
    "--kills",
    "10",
    "--seconds",
    "60",
    "--folder",
  ],
  [`${browser}/browser-cycles.ts`, "--count", "200"],
  [`${testing}/nightly/work-inside.ts`],
  [`${testing}/nightly/real-agents.ts`],
  ["packages/tool-host/src/testing/nightly/without-proc.ts", "bash/local-bash", "processes/end-processes"],
  ["scripts/install-matrix.ts"],
  ["scripts/build-docs.ts"],
  ["scripts/try-docs.ts"],
  ["e2e/page-cuts.ts", "--count", "200"],
  ["bench/web/hour.ts", "--minutes", "60"],
  ["node_modules/vitest/vitest.mjs", "run", "--project", "int", ...partly],
  ["node_modules/vitest/vitest.mjs", "run", "--project", "fast", "--project", "postgres", "killed-import"],
  ["node_modules/vitest/vitest.mjs", "run", "--project", "fast", ...partlyFast],
  ["node_modules/vitest/vitest.mjs", "run", "--project", "browser", "browser-in-"],
  ["node_modules/vitest/vitest.mjs", "run", "--project", "e2e", "e2e/web"],
  ["scripts/build-packages.ts", "--cpu", "x64,arm64", "--level", "1"],
  ["node_modules/vitest/vitest.mjs", "run", "--project", "deploy", "--project", "deploy-nightly"],
  [`${testing}/nightly/soak.ts`, "--minutes", "30"],
];
/** The page's journeys that also work at the size of a phone. */
const onPhones = ["web.e2e", "web-steering", "web-composer", "web-review", "web-settings", "web-tasks"];
const root = path.resolve(import.meta.dirname, "..");
/** Of suites that also run for each commit, with a part of their passages and cases. */
const env = { ...process.env, CONVOKE_EVERY_PASSAGE: "1", CONVOKE_EVERY_CASE: "1" };
const failed: string[] = [];
for (const part of parts) run(part);
run(["node_modules/vitest/vitest.mjs", "run", "--project", "e2e", ...onPhones], {
  CONVOKE_WEB_SIZE: "phone",
});
run(["node_modules/vitest/vitest.mjs", "run", "--project", "postgres"], { CONVOKE_EVERY_STORE: "1" });
// Needs `podman system service --time=0 unix:///run/podman/podman.sock`, catatonit, and the sandbox image in podman's store.
run(
  ["node_modules/vitest/vitest.mjs", "run", "--project", "int", "sandboxes/docker.int", "walls-contract.int"],
  {
    CONVOKE_TEST_ENGINE_SOCKET: "/run/podman/podman.sock",
  },
);
console.log(failed.length === 0 ? "\nEverything held." : `\nFailed:\n${failed.join("\n")}`);
process.exitCode = failed.length === 0 ? 0 : 1;

function run(part: readonly string[], also: Readonly<Record<string, string>> = {}): void {
  const name = part.join(" ");
  console.log(`\n== ${name}`);
  const { status } = spawnSync(process.execPath, part, {
    cwd: root,
    stdio: "inherit",
    env: { ...env, ...also },
  });
  if (status !== 0) failed.push(name);
}
