import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { startTestServer, testedPrograms } from "@convoke/server/testing";
import { expect, onTestFinished, test } from "vitest";

const { command } = testedPrograms();
const sources = join(import.meta.dirname, "../bin.ts");

type Outcome = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

async function health(
  options: readonly string[],
  environment: Record<string, string> = {},
  program = command,
): Promise<Outcome> {
  const child = spawn(process.execPath, [program, "health", ...options], {
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nowhere", ...environment },
  });
  const printed = { stdout: "", stderr: "" };
  child.stdout.on("data", (bytes: Buffer) => (printed.stdout += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (printed.stderr += bytes.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...printed };
}

/** Answers every request with this status, or never where it is null. */
async function startOther(status: number | null, body = "{}"): Promise<string> {
  const server = createServer((_request, response) => {
    if (status !== null) response.writeHead(status).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("health of a server that runs: exit code 0 and its release, without a key", async () => {
  await using server = await startTestServer();
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
    version: string;
  };
  const json = await health(["--json", "--server", `${server.url}/`]);
  expect(json).toEqual({
    code: 0,
    stdout: `${JSON.stringify({ url: server.url, status: "ok", version })}\n`,
    stderr: "",
  });
  // `serve` takes its port from there as well.
  const { port } = new URL(server.url);
  expect(await health([], { CONVOKE_PORT: port })).toEqual({
    code: 0,
    stdout: `${server.url} is alive, release ${version}.\n`,
    stderr: "",
  });
});

test("health of a server that fails or does not answer in time: exit code 1", async () => {
  const failing = await startOther(503);
  expect(await health(["--server", failing])).toEqual({
    code: 1,
    stdout: "",
    stderr: `${failing} is failing: it answered 503.\n`,
  });
  const silent = await startOther(null);
  const outcome = await health(["--json", "--timeout", "0.3", "--server", silent]);
  expect(outcome).toMatchObject({ code: 1, stderr: "" });
  expect(JSON.parse(outcome.stdout)).toEqual({ url: silent, status: "failing", version: null });
});

test("health of a program that says no version is known all the same", async () => {
  const other = await startOther(200, "OK");
  const { code, stdout } = await health(["--json", "--server", other]);
  expect([code, JSON.parse(stdout)]).toEqual([0, { url: other, status: "ok", version: null }]);
});

test("health where nobody listens: exit code 7", async () => {
  const listening = createServer().listen(0, "127.0.0.1");
  await once(listening, "listening");
  const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  listening.close();
  await once(listening, "close");
  const { code, stdout, stderr } = await health(["--server", url]);
  expect([code, stdout, stderr]).toEqual([7, "", `${url} is unreachable: ECONNREFUSED.\n`]);
});

test.each([
  [["--server", "localhost:8000"], "It must be an address such as"],
  [["--timeout", "0"], "It must be a number of seconds"],
])("health %j is wrong usage", async (options, sentence) => {
  const { code, stderr } = await health(options);
  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
});

test("health loads neither the server nor the client", async () => {
  await using folder = await openTemporaryDirectory();
  const url = await startOther(200);
  // Of the sources: there each module is a file that V8 names.
  const { code } = await health(["--server", url], { NODE_V8_COVERAGE: folder.path }, sources);
  expect(code).toBe(0);
  const loaded = readdirSync(folder.path)
    .map((name) => readFileSync(join(folder.path, name), "utf8"))
    .join("");
  const sourcesLoaded = new Set(loaded.match(/\/packages\/[\w./-]+\.ts/g));
  expect(sourcesLoaded).toContain("/packages/cli/src/commands/health.ts");
  // Of the tool host the process table alone, which says whether a server is alive.
  const heavy =
    /^\/packages\/(?:server\/src\/(?:index|boot\/open-|http\/)|client\/src\/|tool-host\/src\/(?!system))/;
  expect([...sourcesLoaded].filter((file) => heavy.test(file))).toEqual([]);
});
