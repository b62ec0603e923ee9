import { once } from "node:events";
import { mkdir, mkdtempDisposable } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { noControlGroups } from "./control-groups/control-groups.ts";
import { createTestWays } from "./testing/test-ways.ts";
import { DockerBackend } from "./docker.ts";

/** An engine that takes every request for a container and says that it would run it with this runtime. */
async function openEngine(runtime: string) {
  await using scope = new AsyncDisposableStack();
  const folder = scope.use(await mkdtempDisposable(join(tmpdir(), "convoke-engine-"))).path;
  const socketPath = join(folder, "engine.sock");
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url!.replace("/v1.41", "").replace(/\?.*/, "");
    const isRemoval = request.method === "DELETE";
    if (request.method === "POST") asked.push(path);
    response.statusCode = isRemoval ? 404 : 200;
    const isList = path === "/containers/json";
    response.end(JSON.stringify(isList ? [] : { Components: [], HostConfig: { Runtime: runtime } }));
  });
  server.listen(socketPath);
  await once(server, "listening");
  scope.defer(() => void server.close());
  const sandboxesDir = join(folder, "sandboxes");
  await mkdir(sandboxesDir);
  const account = { uid: process.getuid!(), gid: process.getgid!() };
  const backend = new DockerBackend({
    sandboxesDir,
    installationId: "here",
    environment: {},
    connect: () => Promise.reject(new Error("Nothing runs.")),
    openControlGroups: async () => noControlGroups("a test"),
    ways: createTestWays("none"),
    self: account,
    unprivileged: { uid: 65_534, gid: 65_534 },
    socketPath,
    image: "a:1",
  });
  const owned = scope.move();
  const start = (wanted: string) =>
    backend.start({
      spec: {
        id: "one",
        workspaceDir: join(sandboxesDir, "one", "workspace"),
        environment: {},
        limits: { memoryMb: 64, cpus: 1, pids: 32 },
        network: "none",
        runtime: wanted,
      },
      keys: { toolHost: "key", authority: "authority" },
      onProgress: () => {},
      signal: new AbortController().signal,
    });
  return { start, asked, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test("a container whose engine ignores the runtime is never started", async () => {
  await using engine = await openEngine("oci");
  await expect(engine.start("runsc")).rejects.toThrow(
    "The container engine does not run containers with runsc: it would use oci.",
  );
  expect(engine.asked).toEqual(["/containers/create"]);
});
