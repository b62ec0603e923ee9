import { join } from "node:path";
import type { SandboxInfo, ServerNode } from "@convoke/protocol";
import { expect, test, vi } from "vitest";
import { ConvokeProcess } from "../testing/convoke-process.ts";
import { probePostgres, startPostgres } from "../testing/start-postgres.ts";

const probe = probePostgres();
const waiting = { timeout: 120_000, interval: 50 };

test.skipIf(!probe.isUsable)(
  `two machines with two processes each, on one PostgreSQL: sandboxes and conversations of each through all four (${probe.detail})`,
  async () => {
    await using postgres = await startPostgres();
    const environment = {
      CONVOKE_DATABASE: await postgres.createDatabase(),
      CONVOKE_SECRET_KEY: "the secret of all servers",
      CONVOKE_PROCESSES: "2",
    };
    await using near = await ConvokeProcess.start({ environment, sandbox: "process" });
    await using far = await ConvokeProcess.start({ environment, sandbox: "process" });
    const everywhere = [near, near, far, far];
    const { nodes } = (await far.ask("GET", "/api/nodes")).json as { nodes: ServerNode[] };
    expect(new Set(nodes.map(({ address }) => address)).size).toBe(4);

    for (const home of [near, far]) {
      const made = await home.ask("POST", "/api/v1/sandboxes");
      const { id } = made.json as SandboxInfo;
      expect(id, made.text).toBeTypeOf("string");
      for (const server of everywhere) {
        await vi.waitUntil(async () => {
          const { json } = await server.ask("GET", `/api/v1/sandboxes?id=${id}`);
          return (json as (SandboxInfo | null)[])[0]?.status === "RUNNING";
        }, waiting);
        const result = await server.ask("POST", `/sandboxes/${id}/api/bash/execute_bash_command`, {
          command: "echo here",
        });
        expect(result.json, result.text).toMatchObject({ stdout: "here\n" });
      }
    }

    const agent = { kind: "Agent", llm: { model: "openai/none", api_key: "k" }, tools: [] };
    const workspace = { kind: "LocalWorkspace", working_dir: join(near.folder, "work") };
    const { id } = (await near.ask("POST", "/api/conversations", { agent, workspace })).json as {
      id: string;
    };
    for (const server of [...everywhere, ...everywhere]) {
      const message = { role: "user", content: [{ type: "text", text: "hello" }], run: false };
      const sent = await server.ask("POST", `/api/conversations/${id}/events`, message);
      expect(sent.status, sent.text).toBe(200);
    }
    const count = `/api/conversations/${id}/events/count?kind=MessageEvent`;
    for (const server of everywhere) expect((await server.ask("GET", count)).json).toBe(8);
  },
);
