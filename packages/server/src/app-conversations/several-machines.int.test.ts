import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AppConversationStartTask, SandboxInfo } from "@convoke/protocol";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ConvokeProcess } from "../testing/convoke-process.ts";
import { startScriptedModel, type ScriptedModelServer } from "../testing/index.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../testing/start-postgres.ts";
import { until } from "../testing/until.ts";
import { openV1, type V1 } from "../testing/v1-client.ts";

const probe = probePostgres();
/** A server that ended without a word is found dead within seven seconds when it is calm. */
const waiting = { timeout: 120_000, interval: 50 };
const port = 8013;

/** Takes as long as the file `hold` is there. */
const command = "echo run >> runs.log; while [ -e hold ]; do sleep 0.05; done; echo over >> over.log";

const portServer = `require("node:http").createServer((_request, response) => response.end("from inside")).listen(${port}, "127.0.0.1")`;

describe.skipIf(!probe.isUsable)(`sandboxes of several machines (${probe.detail})`, () => {
  let postgres: TestPostgres;
  let model: ScriptedModelServer;
  let near: ConvokeProcess;
  let far: ConvokeProcess;
  let v1: V1;
  beforeAll(async () => {
    postgres = await startPostgres();
    model = await startScriptedModel({
      script: {
        turns: [
          { tool_calls: [{ name: "terminal", arguments: { command, timeout: 300 } }] },
          { text: "Done." },
        ],
        loop: true,
      },
    });
    const environment = {
      CONVOKE_DATABASE: await postgres.createDatabase(),
      CONVOKE_SECRET_KEY: "the secret of all servers",
    };
    near = await ConvokeProcess.start({ environment });
    far = await ConvokeProcess.start({ environment });
    v1 = await openV1(near, model);
  });
  afterAll(async () => {
    await near?.[Symbol.asyncDispose]();
    await far?.[Symbol.asyncDispose]();
    await model?.[Symbol.asyncDispose]();
    await postgres?.[Symbol.asyncDispose]();
  });

  const infoOf = async (server: ConvokeProcess, id: string): Promise<SandboxInfo | null> => {
    const { json } = await server.call("GET", `/api/v1/sandboxes?id=${id}`);
    return (json as (SandboxInfo | null)[])[0] ?? null;
  };

  const untilStatus = async (server: ConvokeProcess, id: string, status: string): Promise<SandboxInfo> =>
    await vi.waitUntil(async () => {
      const info = await infoOf(server, id);
      return info?.status === status ? info : null;
    }, waiting);

  /** In the sandbox, through the server that is asked. */
  const execute = async (server: ConvokeProcess, id: string, command: string) =>
    await server.call("POST", `/sandboxes/${id}/api/bash/execute_bash_command`, { command });

  const send = async (server: ConvokeProcess, id: string, sandboxId: string, text: string) =>
    await server.call("POST", `/sandboxes/${sandboxId}/api/conversations/${id}/events`, {
      role: "user",
      content: [{ type: "text", text }],
      run: true,
    });

  const workspaceOf = (server: ConvokeProcess, id: string): string =>
    join(server.dataDir, "sandboxes", id, "workspace");

  async function startConversation(initial = "Work."): Promise<{ id: string; sandboxId: string }> {
    const { id: taskId } = await v1.start({
      initial_message: { content: [{ type: "text", text: initial }] },
    });
    const { app_conversation_id: id, sandbox_id: sandboxId } = await v1.ready(taskId);
    await v1.untilStatus(id!, "finished");
    return { id: id!, sandboxId: sandboxId! };
  }

  const isNear = (sandboxId: string): boolean => existsSync(workspaceOf(near, sandboxId));

  test("a sandbox is shown, used, paused and ended through a server of another machine", async () => {
    const { id: sandboxId } = (await near.call("POST", "/api/v1/sandboxes")).json as SandboxInfo;
    const here = await untilStatus(near, sandboxId, "RUNNING");
    const there = await untilStatus(far, sandboxId, "RUNNING");
    expect(isNear(sandboxId)).toBe(true);
    expect(there.session_api_key).toBe(here.session_api_key);
    const made = await execute(far, sandboxId, "echo far > made.txt; cat made.txt");
    expect(made.json, made.text).toMatchObject({ stdout: "far\n", exit_code: 0 });
    expect(readFileSync(join(workspaceOf(near, sandboxId), "made.txt"), "utf8")).toBe("far\n");
    const withItsKey = await far.call(
      "GET",
      `/sandboxes/${sandboxId}/api/conversations/count`,
      undefined,
      here.session_api_key,
    );
    expect(withItsKey.json).toBe(0);

    const source = Buffer.from(portServer).toString("base64");
    await execute(
      far,
      sandboxId,
      `echo ${source} | base64 -d > port.js; nohup node port.js > port.log 2>&1 &`,
    );
    const address = `/sandboxes/${sandboxId}/ports/${port}/`;
    await expect.poll(async () => (await far.call("GET", address)).text, waiting).toBe("from inside");

    const page = (await far.call("GET", "/api/v1/sandboxes/search")).json as { items: SandboxInfo[] };
    expect(page.items.map(({ id }) => id)).toContain(sandboxId);
    expect((await far.call("POST", `/api/v1/sandboxes/${sandboxId}/pause`)).json).toEqual({ success: true });
    expect((await infoOf(near, sandboxId))?.status).toBe("PAUSED");
    const paused = await execute(far, sandboxId, "true");
    expect(paused).toMatchObject({ status: 503, json: { code: "sandbox_not_running" } });
    expect((await far.call("POST", `/api/v1/sandboxes/${sandboxId}/resume`)).json).toEqual({ success: true });
    expect((await execute(far, sandboxId, "cat made.txt")).json).toMatchObject({ stdout: "far\n" });
    expect((await far.call("DELETE", `/api/v1/sandboxes/${sandboxId}`)).json).toEqual({ success: true });
    for (const server of [near, far]) expect(await infoOf(server, sandboxId)).toBeNull();
    expect(isNear(sandboxId)).toBe(false);
    expect((await execute(far, sandboxId, "true")).status).toBe(404);
  });

  test("nobody but its owner is told that there is a sandbox on another machine", async () => {
    const { id: sandboxId } = (await near.call("POST", "/api/v1/sandboxes")).json as SandboxInfo;
    await untilStatus(far, sandboxId, "RUNNING");
    const path = `/internal/sandboxes/${sandboxId}`;
    for (const server of [near, far]) {
      for (const key of [server.key, "wrong", null]) {
        expect((await server.call("POST", `${path}/place`, undefined, key)).status).toBe(401);
        expect((await server.call("GET", `${path}/host`, undefined, key)).status).toBe(401);
        expect((await server.call("GET", `${path}/ports/${port}`, undefined, key)).status).toBe(401);
      }
      const stranger = await server.call(
        "GET",
        `/sandboxes/${sandboxId}/api/conversations/count`,
        undefined,
        "wrong",
      );
      expect(stranger.status).toBe(401);
    }
    await far.call("DELETE", `/api/v1/sandboxes/${sandboxId}`);
  });

  test("P6, P27: a conversation goes on at another server, its tools in the sandbox where it was; a machine that is unavailable is told", async () => {
    const { id, sandboxId } = await startConversation();
    const record = join(workspaceOf(near, sandboxId), "project", "runs.log");
    expect(readFileSync(record, "utf8")).toBe("run\n");

    // Whoever works on it gives it back, and the next who is asked takes it.
    await near.end("SIGTERM");
    const unavailable = await untilStatus(far, sandboxId, "ERROR");
    expect(unavailable).toMatchObject({ session_api_key: null });
    expect(unavailable.status_detail).toContain("no server lives on");
    for (const path of [`/api/v1/sandboxes/${sandboxId}/pause`, `/api/v1/sandboxes/${sandboxId}/resume`])
      expect(await far.call("POST", path)).toMatchObject({ status: 503, json: { code: "machine_away" } });
    expect(await execute(far, sandboxId, "true")).toMatchObject({
      status: 503,
      json: { code: "machine_away" },
    });
    expect((await far.call("GET", `/api/v1/conversation/${id}/events/count`)).status).toBe(200);

    await near.restart();
    await untilStatus(far, sandboxId, "RUNNING");
    expect((await send(far, id, sandboxId, "Again.")).status).toBe(200);
    await vi.waitUntil(() => readFileSync(record, "utf8") === "run\nrun\n", waiting);
    await v1.untilStatus(id, "finished");

    // The other server works on it now, and its machine is cut off without a word.
    await near.end("SIGKILL");
    await untilStatus(far, sandboxId, "ERROR");
    await near.restart();
    await untilStatus(far, sandboxId, "RUNNING");
    expect((await send(near, id, sandboxId, "And again.")).status).toBe(200);
    await vi.waitUntil(() => readFileSync(record, "utf8") === "run\nrun\nrun\n", waiting);
    await v1.untilStatus(id, "finished");
    expect((await far.call("DELETE", `/api/v1/app-conversations/${id}`)).json).toEqual({ success: true });
    expect(isNear(sandboxId)).toBe(false);
  });

  test("P28: a rolling restart of all servers cancels no tool of a sandbox", async () => {
    const { id, sandboxId } = await startConversation();
    const project = join(workspaceOf(near, sandboxId), "project");
    const hold = join(project, "hold");
    writeFileSync(hold, "");
    expect((await send(near, id, sandboxId, "Again.")).status).toBe(200);
    const read = (name: string): string => readFileSync(join(project, name), "utf8");
    await vi.waitUntil(() => read("runs.log") === "run\nrun\n", waiting);
    // The one that works on it, the one that has taken it up, and that of its machine once more.
    for (const server of [near, far, near]) {
      await server.restart();
      for (const seen of [near, far]) await untilStatus(seen, sandboxId, "RUNNING");
      await v1.untilStatus(id, "running");
    }
    rmSync(hold);
    await v1.untilStatus(id, "finished");
    expect(read("runs.log")).toBe("run\nrun\n");
    expect(read("over.log")).toBe("over\nover\n");
    const { json } = await far.call("GET", `/api/v1/conversation/${id}/events/search?limit=100`);
    const { items } = json as { items: { kind: string; observation?: { exit_code?: number } }[] };
    expect(items.filter(({ kind }) => kind === "AgentErrorEvent")).toEqual([]);
    const observed = items.flatMap(({ observation }) => observation?.exit_code ?? []);
    expect(observed).toEqual([0, 0]);
    expect((await far.call("DELETE", `/api/v1/app-conversations/${id}`)).json).toEqual({ success: true });
  });

  test("a sandbox that is deleted while its machine is unavailable goes when that is back", async () => {
    const { id, sandboxId } = await startConversation();
    await near.end("SIGKILL");
    await untilStatus(far, sandboxId, "ERROR");
    expect((await far.call("DELETE", `/api/v1/app-conversations/${id}`)).json).toEqual({ success: true });
    expect(await infoOf(far, sandboxId)).toBeNull();
    expect(isNear(sandboxId)).toBe(true);
    await near.restart();
    await until(() => !isNear(sandboxId));
    expect(await infoOf(near, sandboxId)).toBeNull();
  });

  test("P22: a start whose server is killed is resumed by another one: the setup script runs once", async () => {
    const { id: secondId, sandboxId } = await startConversation();
    const project = join(workspaceOf(near, sandboxId), "project");
    mkdirSync(join(project, ".openhands"));
    writeFileSync(
      join(project, ".openhands/setup.sh"),
      "echo begun >> setup.log\nuntil [ -e go ]; do sleep 0.05; done\necho ended >> setup.log\n",
    );
    const initial = { initial_message: { content: [{ type: "text", text: "first" }] } };
    const task = await v1.start({ ...initial, sandbox_id: sandboxId });
    await until(() => existsSync(join(project, "setup.log")));
    await near.end("SIGKILL");
    const readTask = async (server: ConvokeProcess): Promise<AppConversationStartTask> => {
      const { json } = await server.call("GET", `/api/v1/app-conversations/start-tasks?ids=${task.id}`);
      return (json as AppConversationStartTask[])[0]!;
    };
    await expect.poll(async () => (await readTask(far)).detail, waiting).toContain("no server lives on");
    await near.restart();
    writeFileSync(join(project, "go"), "");
    const ready = await vi.waitUntil(async () => {
      const seen = await readTask(far);
      expect(seen.status, String(seen.detail)).not.toBe("ERROR");
      return seen.status === "READY" ? seen : null;
    }, waiting);
    expect(readFileSync(join(project, "setup.log"), "utf8")).toBe("begun\nended\n");
    await v1.untilStatus(ready.app_conversation_id!, "finished");
    for (const id of [ready.app_conversation_id!, secondId])
      expect((await far.call("DELETE", `/api/v1/app-conversations/${id}`)).json).toEqual({ success: true });
  });
});
