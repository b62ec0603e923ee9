import path from "node:path";
import { defineConfig } from "vitest/config";
import { probePostgres } from "./packages/server/src/testing/start-postgres.ts";
import { LongFilesFirst } from "./test/long-files-first.ts";
import { findStorelessTests } from "./test/storeless-tests.ts";

/** Each keeps more than one core busy for minutes: beside them, tests of other things that are timed would measure the browsers. */
const browserSuites = [
  "packages/tool-host/src/tools/browser/**/*.int.test.ts",
  "packages/server/src/sandboxes/browser-in-*.int.test.ts",
];

/** Run on SQLite among the fast ones, and once more on PostgreSQL where that is installed. */
const storeSuites = [
  "packages/server/src/database/{application-database,rows}.test.ts",
  "packages/server/src/settings/{identity-store,key-store,login-states,login-store,model-lessons,policy-store,profile-history,stored-models}.test.ts",
  "packages/server/src/automations/automation-store.test.ts",
  "packages/server/src/triggers/{event-triggers,hook-receiver}.test.ts",
  "packages/server/src/walls/wall-holds.test.ts",
  "packages/server/src/spending/budget-guard.test.ts",
  "packages/server/src/webhooks/webhooks.test.ts",
  "packages/server/src/admin/inspect-conversation.test.ts",
  "packages/server/src/app-conversations/list-conversations.test.ts",
  "packages/server/src/sandboxes/shared-sandbox-store.test.ts",
  "packages/server/src/{faces,engine,tools,reading,directory}/**/*.test.ts",
];

/** Those of faces and conversations that work with processes and files are run on PostgreSQL too where that is asked for: at night. */
const isForEveryStore = process.env["CONVOKE_EVERY_STORE"] === "1";

/** Those of them that are about a data folder: what lies in it, what is damaged there, or a second server on it. */
const folderSuites = [
  "packages/server/src/faces/agent-server/{conversations/hidden-configuration,events/damaged,events/replay-routes}.test.ts",
  "packages/server/src/faces/operations/{audit,audit-face,metrics-face,outbound}.test.ts",
  "packages/server/src/{engine,directory}/{attended-runs,deletions,lost-key,tools-unavailable,watch}.test.ts",
  "packages/server/src/directory/fork.test.ts",
];

const { isUsable: hasPostgres } = probePostgres();

/**
 * Those of them whose subject no store can change: they are run on PostgreSQL at night too. Most open none: on PostgreSQL they do, to the
 * letter, what they do among the fast ones.
 */
const storelessSuites =
  hasPostgres && !isForEveryStore
    ? ["packages/server/src/engine/run/many-calls.test.ts", ...findStorelessTests(storeSuites)]
    : [];

/**
 * Those of them about what is before or beside a store: agents, models, rules, requests, pages of logins, and sockets. What they write and read there
 * is by day on PostgreSQL in the suites of the stores and of events, conversations, restarts, imports, budgets and automations.
 */
const besideStores = [
  "packages/server/src/faces/agent-server/conversations/{agent-answers,commands,context-routes,liveness,reviewer,rules,start-fields,status-table}.test.ts",
  "packages/server/src/faces/agent-server/{files/workspace-routes,settings/settings-clients,sockets/event-socket,sockets/socket-times}.test.ts",
  "packages/server/src/faces/agent-server/server/{routes,safety-fields,wire-snapshot}.test.ts",
  "packages/server/src/faces/legacy/settings-faces.test.ts",
  "packages/server/src/faces/logins/{login-routes,oidc-hostile,oidc-login}.test.ts",
  "packages/server/src/faces/openai/{openai-routes,own-calls,responses}.test.ts",
  "packages/server/src/tools/sources/{network-source,oracle-source,task-source,workflow-source}.test.ts",
  "packages/server/src/tools/{session-skills,tasks/parallel-tasks,tasks/sub-agent-own}.test.ts",
  "packages/server/src/engine/run/{adjusted-requests,announced-call,hook-events,parallel-tools,retry-stops,slow-hooks,time-limits}.test.ts",
];

/** Of those of processes, the ones of which others of the same kind are run by day. */
const atNight =
  process.env["CONVOKE_EVERY_CASE"] === "1"
    ? []
    : [
        "packages/cli/src/{json-output,processes/shared-sandboxes}.int.test.ts",
        "packages/server/src/app-conversations/several-processes.int.test.ts",
        "packages/server/src/observability/loaded.int.test.ts",
        "packages/server/src/testing/{condensing-crash,many-conversations}.int.test.ts",
        "packages/server/src/testing/nightly/{node-cycles,schedule-kills}.int.test.ts",
      ];

/** Wherever a test makes cases of its own: what is red in one run must be red in the next. */
const propertySeed = "test/property-seed.ts";

/**
 * Without their types, and compiled: what one process has read of the sources, others need not read anew. Each server of a test starts
 * threads, and each of them would load the program that takes types out.
 */
process.env["NODE_COMPILE_CACHE"] ??= path.resolve("node_modules/.cache/convoke-compiled");
const compiledCode = "test/compiled-code.ts";

/** Tests of processes wait for most of their time: for ends, quiet terminals and dead nodes. */
const waiting = { maxWorkers: 5, sequence: { groupOrder: 1 } };

/** What builds packages and images keeps the machine busy. */
const oneAfterAnother = {
  maxWorkers: 1,
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 90_000 } },
  isolate: false,
};

/**
 * Levels by file suffix: fast (in memory), int (pty, git, processes; the suites of the browser come after the others), e2e (the built server),
 * deploy and deploy-nightly (packages, images and charts).
 */
export default defineConfig({
  test: {
    // One more than CI has cores: workers wait for sockets, timers and disks for some of their time, also in fast tests.
    maxWorkers: 3,
    sequence: { sequencer: LongFilesFirst },
    // Node reads the sources itself: nothing is mocked or transformed, and each project would transform all of them anew.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // All limits are for a machine that has something else to do: when it is calm, what a test waits for takes milliseconds.
    projects: [
      {
        test: {
          name: "fast",
          setupFiles: [propertySeed, compiledCode],
          include: ["{packages,scripts,bench,test,docker,deploy}/**/*.test.ts"],
          exclude: ["**/*.{int,deploy,deploy-nightly}.test.ts", "**/node_modules/**", "**/dist/**"],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          expect: { poll: { timeout: 60_000 } },
          // No module keeps state, so files can share what they import.
          isolate: false,
        },
      },
      {
        test: {
          name: "int",
          globalSetup: ["test/built-programs.ts"],
          setupFiles: [propertySeed, compiledCode, "test/on-built-programs.ts"],
          include: ["{packages,scripts,bench,test}/**/*.int.test.ts"],
          exclude: ["**/node_modules/**", "**/dist/**", ...browserSuites, ...atNight],
          ...waiting,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 90_000 } },
          isolate: false,
        },
      },
      {
        test: {
          name: "browser",
          include: browserSuites,
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 90_000 } },
          isolate: false,
        },
      },
      hasPostgres
        ? {
            test: {
              name: "postgres",
              include: storeSuites,
              exclude: [
                ...(isForEveryStore ? [] : ["**/*.int.test.ts", ...besideStores]),
                ...storelessSuites,
                ...folderSuites,
              ],
              env: { CONVOKE_TEST_STORE: "postgres" },
              globalSetup: ["test/postgres-server.ts"],
              setupFiles: [propertySeed, compiledCode, "test/on-postgres.ts"],
              ...waiting,
              testTimeout: 240_000,
              hookTimeout: 240_000,
              expect: { poll: { timeout: 60_000 } },
              isolate: false,
            },
          }
        : { test: { name: "postgres", include: ["test/without-postgres.store.ts"], ...waiting } },
      {
        // What is handed out without npm, of what `npm run build` wrote.
        test: {
          name: "deploy",
          include: ["{scripts,docker,deploy}/**/*.deploy.test.ts"],
          ...oneAfterAnother,
        },
      },
      {
        // The rest of it, with packages for every processor; at night (scripts/nightly.ts).
        test: {
          name: "deploy-nightly",
          include: ["{scripts,docker,deploy}/**/*.deploy-nightly.test.ts"],
          ...oneAfterAnother,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["e2e/**/*.e2e.test.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 90_000 } },
          isolate: false,
        },
      },
    ],
  },
});
