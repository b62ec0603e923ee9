import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInProcessHost } from "@convoke/tool-host";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { completeConfig } from "./config-init.ts";
import { readConfig } from "./config.ts";
import { silentLogger } from "../lib/logger.ts";
import { openDeferredServer } from "./open-deferred-server.ts";
import { openServer } from "./open-server.ts";

const initKey = { "X-Init-API-Key": "init-key" };
const sessionKey = { "X-Session-API-Key": "given" };

type Bench = AsyncDisposable & {
  readonly url: string;
  readonly folder: string;
  call(method: string, path: string, headers?: Record<string, string>, body?: unknown): Promise<Reply>;
};

type Reply = { readonly status: number; readonly json: unknown };

/** `isPortLost`: the first configured server fails after the deferred one has stopped listening. */
async function openBench(isPortLost = false): Promise<Bench> {
  let attempts = 0;
  await using scope = new AsyncDisposableStack();
  const { path: folder } = scope.use(await openTemporaryDirectory());
  const overrides = { host: "127.0.0.1", port: 0, dataDir: join(folder, "old"), workspaceRoot: folder };
  const initDeps = { environment: {}, overrides, allowedEnvironment: () => ({}) };
  const { url } = scope.use(
    await openDeferredServer({
      config: readConfig({}, overrides),
      initKey: "init-key",
      logger: silentLogger,
      complete: (request) => completeConfig(request, initDeps),
      open: async ({ config }, takeOver) => {
        attempts += 1;
        if (isPortLost && attempts === 1) {
          takeOver.freePort();
          throw new Error("inside");
        }
        const toolHost = createInProcessHost({ tools: [], environment: {} });
        return await openServer({ config, toolHost, logger: silentLogger, takeOver });
      },
    }),
  );
  const owned = scope.move();
  return {
    url,
    folder,
    async call(method, path, headers = {}, body) {
      const reply = await fetch(`${url}${path}`, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: reply.status, json: await reply.json() };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test("W35: a server that waits for its configuration reports that it is alive, and refuses everything else, /v1 and sockets too", async () => {
  await using bench = await openBench();
  expect(await bench.call("GET", "/alive")).toEqual({ status: 200, json: { status: "ok" } });
  expect(await bench.call("GET", "/health")).toEqual({ status: 200, json: { status: "ok" } });
  const info = await bench.call("GET", "/server_info");
  expect(info).toMatchObject({
    status: 200,
    json: { usable_tools: [], uptime: expect.any(Number) as number },
  });
  expect(await bench.call("GET", "/ready")).toEqual({ status: 200, json: { status: "ready" } });
  const waits = { status: 200, json: { state: "dormant", error: null } };
  expect(await bench.call("GET", "/api/init")).toEqual(waits);
  for (const [method, path] of [
    ["GET", "/api/conversations/search"],
    ["POST", "/api/conversations"],
    ["GET", "/v1/models"],
    ["GET", "/api/v1/users/me"],
    ["DELETE", "/nowhere"],
    ["GET", "/"],
  ] as const) {
    expect(await bench.call(method, path, sessionKey)).toMatchObject({
      status: 503,
      json: { code: "not_initialized" },
    });
  }
  const socket = new WebSocket(`${bench.url.replace("http", "ws")}/sockets/events/x`);
  const [error] = (await once(socket, "error").catch((thrown: unknown) => [thrown])) as [Error];
  expect(error.message).toContain("503");
  const foreign = await bench.call("GET", "/api/init", { origin: "https://evil.example" });
  expect(foreign).toMatchObject({ status: 403, json: { code: "forbidden" } });
});

test("W35: a configuration needs the key and known fields, then holds for the whole server on the same port", async () => {
  await using bench = await openBench();
  const body = {
    session_api_keys: ["given"],
    secret_key: "a secret to seal with",
    conversations_path: join(bench.folder, "new"),
    allow_cors_origins: ["https://page.example"],
  };
  for (const headers of [{}, { "X-Init-API-Key": "wrong" }, { "X-Session-API-Key": "init-key" }]) {
    expect(await bench.call("POST", "/api/init", headers, body)).toMatchObject({ status: 401 });
  }
  for (const [field, value] of [
    ["surprise", 1],
    ["telemetry", {}],
    ["session_api_keys", []],
  ] as const) {
    const refused = await bench.call("POST", "/api/init", initKey, { ...body, [field]: value });
    expect(refused).toMatchObject({ status: 422, json: { detail: [{ loc: ["body", field] }] } });
  }
  expect(await bench.call("POST", "/api/init", initKey)).toMatchObject({ status: 422 });
  const both = await Promise.all([
    bench.call("POST", "/api/init", initKey, body),
    bench.call("POST", "/api/init", initKey, body),
  ]);
  expect(both.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 400]));
  const ready = { status: 200, json: { state: "ready", error: null } };
  expect(both).toContainEqual(ready);
  expect(await bench.call("GET", "/api/init")).toEqual(ready);
  expect(await bench.call("POST", "/api/init", initKey, body)).toMatchObject({
    status: 400,
    json: { code: "already_initialized" },
  });
  expect(await bench.call("POST", "/api/init", {}, body)).toMatchObject({ status: 401 });
  const page = { ...sessionKey, origin: "https://page.example" };
  expect(await bench.call("GET", "/api/conversations/search", page)).toMatchObject({ status: 200 });
  expect(await bench.call("GET", "/api/conversations/search")).toMatchObject({ status: 401 });
  expect(await bench.call("GET", "/ready")).toEqual({ status: 200, json: { status: "ready" } });
});

test("W35: a failure is reported and cleaned up, and the next configuration is accepted", async () => {
  await using bench = await openBench();
  const file = join(bench.folder, "file");
  await writeFile(file, "");
  const bad = { session_api_keys: ["given"], conversations_path: join(file, "data") };
  expect(await bench.call("POST", "/api/init", initKey, bad)).toMatchObject({
    status: 500,
    json: { code: "init_failed" },
  });
  expect(await bench.call("GET", "/api/init")).toEqual({
    status: 200,
    json: { state: "dormant", error: expect.stringContaining("cannot be made") as string },
  });
  expect(await bench.call("GET", "/api/conversations/search", sessionKey)).toMatchObject({ status: 503 });
  const good = { ...bad, conversations_path: join(bench.folder, "data") };
  expect(await bench.call("POST", "/api/init", initKey, good)).toMatchObject({ status: 200 });
  expect(await bench.call("GET", "/api/init")).toMatchObject({ json: { state: "ready", error: null } });
  expect(await bench.call("GET", "/api/conversations/search", sessionKey)).toMatchObject({ status: 200 });
});

test("W35: a server that fails after it has taken the port releases it, and does not reveal the reason", async () => {
  await using bench = await openBench(true);
  const body = { session_api_keys: ["given"] };
  const failed = await bench.call("POST", "/api/init", initKey, body);
  expect(failed).toMatchObject({ status: 500, json: { code: "init_failed" } });
  expect(JSON.stringify(failed.json)).not.toContain("inside");
  expect(await bench.call("GET", "/api/init")).toMatchObject({ json: { state: "dormant" } });
  expect(await bench.call("POST", "/api/init", initKey, body)).toMatchObject({ status: 200 });
  expect(await bench.call("GET", "/api/conversations/search", sessionKey)).toMatchObject({ status: 200 });
});
