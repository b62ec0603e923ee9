import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { chown, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { testedPrograms } from "@convoke/server/testing";
import { expect, onTestFinished, test } from "vitest";

const { command } = testedPrograms();

function launch(
  environment: Record<string, string>,
  options = ["--sandbox", "off", "--json"],
  user: { readonly uid?: number; readonly gid?: number } = {},
  program = command,
) {
  const child = spawn(process.execPath, [program, "serve", "--port", "0", ...options], {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
    ...user,
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  return child;
}

test("W35: convoke serve with OH_DEFERRED_INIT waits for its configuration, then commands see its variables", async () => {
  await using folder = await openTemporaryDirectory();
  const child = launch({ HOME: folder.path, OH_DEFERRED_INIT: "true", OH_INIT_API_KEY: "init-key" });
  const [bytes] = (await once(child.stdout, "data")) as [Buffer];
  const { url } = JSON.parse(bytes.toString()) as { url: string };
  const call = async (method: string, path: string, body?: object): Promise<[number, unknown]> => {
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: {
        "X-Init-API-Key": "init-key",
        "X-Session-API-Key": "given",
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return [reply.status, await reply.json()];
  };
  const command = { command: "echo $TZ-$OH_INIT_API_KEY-" };
  expect(await call("GET", "/api/init")).toEqual([200, { state: "dormant", error: null }]);
  expect(await call("POST", "/api/bash/execute_bash_command", command)).toMatchObject([503, {}]);
  const configuration = {
    session_api_keys: ["given"],
    conversations_path: join(folder.path, "data"),
    env: { TZ: "Asia/Tokyo" },
  };
  expect(await call("POST", "/api/init", { env: { CONVOKE_HOST: "::1" } })).toMatchObject([422, {}]);
  expect(await call("POST", "/api/init", configuration)).toEqual([200, { state: "ready", error: null }]);
  expect(await call("POST", "/api/bash/execute_bash_command", command)).toMatchObject([
    200,
    { stdout: "Asia/Tokyo--\n" },
  ]);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test.each([
  ["--no-auth opens every route of a deferred start without any key", ["--no-auth"], {}, 200],
  [
    "a deferred start whose configuration has no keys says which one is asked for",
    [],
    { OH_INIT_API_KEY: "k" },
    401,
  ],
])("clients 9: %s", async (_title, options, environment, status) => {
  await using folder = await openTemporaryDirectory();
  const variables = { HOME: folder.path, OH_DEFERRED_INIT: "true", ...environment };
  const child = launch(variables, ["--json", ...options]);
  const [bytes] = (await once(child.stdout, "data")) as [Buffer];
  const { url } = JSON.parse(bytes.toString()) as { url: string };
  const headers = { "content-type": "application/json", "x-init-api-key": "k" };
  const started = await fetch(`${url}/api/init`, { method: "POST", headers, body: "{}" });
  const answer = (await started.json()) as { state: string; error: null; message?: string };
  expect(answer).toMatchObject({ state: "ready", error: null });
  const search = async (key?: string): Promise<number> =>
    (
      await fetch(
        `${url}/api/conversations/search`,
        key === undefined ? {} : { headers: { "x-session-api-key": key } },
      )
    ).status;
  expect(await search()).toBe(status);
  if (status === 200) expect(answer).not.toHaveProperty("message");
  else {
    const file = join(folder.path, ".convoke", "session-api-key");
    expect(answer.message).toContain(`need the key in ${file}`);
    expect(answer.message).toMatch(/session_api_keys.*--no-auth/);
    expect(await search((await readFile(file, "utf8")).trim())).toBe(200);
    expect(await (await fetch(`${url}/api/init`)).json()).toEqual({ state: "ready", error: null });
  }
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test.runIf(process.geteuid?.() === 0)("a user without an entry and without a home can serve", async () => {
  await using folder = await openTemporaryDirectory();
  const nobody = 54_321;
  await chown(folder.path, nobody, nobody);
  const options = ["--sandbox", "off", "--data-dir", join(folder.path, "data")];
  const child = launch({ CONVOKE_WORKSPACE_ROOT: folder.path }, options, { uid: nobody, gid: nobody });
  const [bytes] = (await once(child.stdout, "data")) as [Buffer];
  expect(bytes.toString()).toContain("http://127.0.0.1:");
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("a server from the sources that is killed leaves its compiled code for the next start", async () => {
  await using folder = await openTemporaryDirectory();
  const sources = join(import.meta.dirname, "../bin.ts");
  const child = launch({ HOME: folder.path }, undefined, undefined, sources);
  await once(child.stdout, "data");
  const cache = join(folder.path, ".cache", "convoke");
  const cachedFiles = (): string[] =>
    readdirSync(cache, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name);
  await expect.poll(() => cachedFiles().length).toBeGreaterThan(100);
  child.kill("SIGKILL");
  await once(child, "exit");
});

test("F6: a start that the disk refuses says one sentence with the file, and no stack", async () => {
  await using folder = await openTemporaryDirectory();
  const dataDir = join(folder.path, ".convoke");
  await mkdir(dataDir, { mode: 0o700 });
  await writeFile(join(dataDir, "journal.db"), "this is no database at all, ".repeat(1000));
  const child = launch({ HOME: folder.path });
  let output = "";
  child.stderr.on("data", (bytes: Buffer) => (output += bytes.toString()));
  expect((await once(child, "close"))[0]).toBe(1);
  expect(output).toMatch(/^\S*journal\.db is damaged\. .*doctor --check-data.*\n$/);
});

test.each([
  ["process", ["--sandbox", "process"], /^ {2}sandboxes {2}process: isolates nothing$/m],
  ["auto without bubblewrap", [], /^ {2}sandboxes {2}process: isolates nothing \(bubblewrap: .+\)$/m],
])(
  "PR01, S15: serve says that sandboxes of the kind %s isolate nothing, on the screen and in the log",
  async (_kind, options, line) => {
    await using folder = await openTemporaryDirectory();
    const child = launch({ HOME: folder.path, PATH: "/nowhere", CONVOKE_WALL: "off" }, options);
    let shown = "";
    let logged = "";
    child.stdout.on("data", (bytes: Buffer) => (shown += bytes.toString()));
    child.stderr.on("data", (bytes: Buffer) => (logged += bytes.toString()));
    await expect.poll(() => shown).toMatch(line);
    await expect.poll(() => logged).toContain("isolate nothing");
    child.kill("SIGTERM");
    await once(child, "exit");
  },
);

test("S15: serve says so when there are no sandboxes", async () => {
  await using folder = await openTemporaryDirectory();
  const child = launch({ HOME: folder.path }, ["--sandbox", "off"]);
  const [bytes] = (await once(child.stdout, "data")) as [Buffer];
  expect(bytes.toString()).toMatch(/^ {2}sandboxes {2}off$/m);
  child.kill("SIGTERM");
  await once(child, "exit");
});
