import { existsSync, readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { listProcesses, readCommandLine } from "@convoke/tool-host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findContainerEngine } from "../sandboxes/open-sandbox.ts";
import { ConvokeProcess } from "../testing/convoke-process.ts";
import { startScriptedModel, type ScriptedModelServer } from "../testing/index.ts";
import { until } from "../testing/until.ts";
import { openV1, type V1 } from "../testing/v1-client.ts";

const socketPath = process.env["CONVOKE_TEST_ENGINE_SOCKET"] ?? "/var/run/docker.sock";
const image = process.env["CONVOKE_TEST_ENGINE_IMAGE"] ?? "convoke-sandbox:offline";
const engine = await findContainerEngine({ socketPath, image });

const kinds = [
  { kind: "the default sandbox", options: {}, missing: null },
  {
    kind: "docker",
    options: {
      sandbox: "docker",
      environment: { CONVOKE_SANDBOX_IMAGE: image, CONVOKE_SANDBOX_ENGINE_SOCKET: socketPath },
    },
    missing: engine.isUsable ? null : engine.detail,
  },
];

describe.each(kinds)("a conversation in $kind", ({ options, missing, kind }) => {
  const name = "shown: start, edit, read back, freeze, go on, delete; nothing is left";
  if (missing !== null) {
    test.skip(`${name} (skipped: ${missing})`, () => {});
    return;
  }
  let model: ScriptedModelServer;
  let server: ConvokeProcess;
  let v1: V1;
  beforeAll(async () => {
    model = await startScriptedModel({
      script: {
        turns: [
          {
            text: "I count.",
            tool_calls: [
              {
                name: "terminal",
                arguments: {
                  command:
                    "echo hello > made.txt; (while true; do n=$((n+1)); echo $n > counter; sleep 0.02; done) >/dev/null 2>&1 & sleep 0.2",
                },
              },
            ],
          },
          { text: "It counts." },
        ],
      },
    });
    server = await ConvokeProcess.start(options);
    v1 = await openV1(server, model);
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await model?.[Symbol.asyncDispose]();
  });

  test(name, async () => {
    const task = await v1.start({ initial_message: { content: [{ type: "text", text: "Count." }] } });
    const id = (await v1.ready(task.id)).app_conversation_id!;
    const conversation = await v1.untilStatus(id, "finished");
    expect(conversation).toMatchObject({ id, sandbox_status: "RUNNING", execution_status: "finished" });
    const path = `/api/v1/app-conversations/${id}`;
    expect((await server.call("GET", `${path}/file?file_path=made.txt`)).json).toBe("hello\n");
    expect((await server.call("GET", `${path}/git/changes?path=.`)).json).toContainEqual({
      status: "ADDED",
      path: "made.txt",
    });
    expect((await server.call("GET", `${path}/git/diff?path=made.txt`)).json).toEqual({
      original: "",
      modified: "hello",
    });

    const sandboxId = conversation.sandbox_id;
    const folder = join(server.dataDir, "sandboxes", sandboxId);
    const counter = join(folder, "workspace/project/counter");
    const count = (): number => Number(readFileSync(counter, "utf8"));
    const grows = async (): Promise<void> => {
      const before = count();
      await until(() => count() > before);
    };
    await until(() => existsSync(counter));
    await grows();
    expect((await server.call("POST", `/api/v1/sandboxes/${sandboxId}/pause`)).json).toEqual({
      success: true,
    });
    const [paused] = await v1.get([id]);
    expect(paused).toMatchObject({
      sandbox_status: "PAUSED",
      execution_status: null,
      conversation_url: null,
    });
    const still = count();
    // A loop that were not frozen would count on in less than a tenth of this.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(count()).toBe(still);
    expect((await server.call("POST", `${path}/send-message`, { content: [{ text: "Hi" }] })).status).toBe(
      409,
    );
    expect((await server.call("GET", `${path}/git/changes?path=.`)).status).toBe(409);
    expect((await server.call("GET", `${path}/file?file_path=made.txt`)).json).toBe("");
    await server.call("POST", `/api/v1/sandboxes/${sandboxId}/resume`);
    await grows();

    expect((await server.call("DELETE", path)).json).toEqual({ success: true });
    expect((await server.call("DELETE", path)).status).toBe(404);
    expect(await v1.get([id])).toEqual([null]);
    expect(existsSync(folder)).toBe(false);
    expect(existsSync(join(server.dataDir, "conversations", dashed(id)))).toBe(false);
    expect((await server.call("GET", `/api/v1/conversation/${id}/events/search`)).status).toBe(404);
    expect((await server.call("GET", "/api/v1/app-conversations/start-tasks/count")).json).toBe(0);
    // One that was killed may be in the table for a moment.
    const left = () => listProcesses().filter(({ pid }) => readCommandLine(pid)?.includes(sandboxId));
    await expect.poll(left).toEqual([]);
    if (kind === "docker") {
      expect(execFileSync("docker", ["ps", "-a", "--format", "{{.Names}}"]).toString()).not.toContain(
        sandboxId,
      );
    }
  });
});

function dashed(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
