import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ConvokeClient } from "@convoke/client";
import type { ConversationInfo, SandboxInfo, ShellSummary } from "@convoke/protocol";
import { expect, test, vi } from "vitest";
import { findBubblewrap } from "../../sandboxes/find-bubblewrap.ts";
import { ConvokeProcess } from "../../testing/convoke-process.ts";
import { startScriptedModel } from "../../testing/scripted-model/scripted-model-server.ts";
import { openShellPerson } from "../../testing/shell-person.ts";

const unprivileged = { uid: 65_534, gid: 65_534 };
const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const bubblewrap = await findBubblewrap({ self, unprivileged, environment: process.env });

const waiting = { timeout: 150_000, interval: 20 };
const page = `require("node:http").createServer((q, a) => a.end("made in the sandbox, asked " + q.url)).listen(0, "127.0.0.1", function () { console.log("port=" + this.address().port) })`;

test.for([
  { sandbox: "process", missing: null },
  { sandbox: "bubblewrap", missing: bubblewrap.isUsable ? null : bubblewrap.detail },
])(
  "J18, U21: a person has a shell in a sandbox, $sandbox, and sees what a program there serves",
  { timeout: 600_000 },
  async ({ sandbox, missing }, context) => {
    if (missing !== null) return context.skip(missing);
    await using model = await startScriptedModel({ script: { turns: [] } });
    await using server = await ConvokeProcess.start({ sandbox });
    const { id } = (await server.call("POST", "/api/v1/sandboxes")).json as SandboxInfo;
    const statusOf = async () =>
      ((await server.call("GET", `/api/v1/sandboxes?id=${id}`)).json as SandboxInfo[])[0]?.status;
    await vi.waitUntil(async () => (await statusOf()) === "RUNNING", waiting);
    const workspace = join(server.dataDir, "sandboxes", id, "workspace");
    mkdirSync(workspace, { recursive: true });
    const started = await server.call("POST", `/sandboxes/${id}/api/conversations`, {
      agent: {
        kind: "Agent",
        llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key", num_retries: 0 },
        tools: [{ name: "terminal" }],
      },
      workspace: { kind: "LocalWorkspace", working_dir: "." },
    });
    expect(started.status, started.text).toBe(201);
    const conversation = (started.json as ConversationInfo).id;
    const path = `/api/conversations/${conversation}`;
    const opened = await server.call("POST", `${path}/shells`, { columns: 90, rows: 25 });
    expect(opened.status, opened.text).toBe(201);

    const client = new ConvokeClient({ baseUrl: server.url, apiKey: server.key });
    await using person = openShellPerson(client, conversation, (opened.json as ShellSummary).id);
    person.press("echo her''e; touch by-hand; pwd; ls\r");
    await person.sees(/^here$/m);
    await person.sees(/^by-hand/m);
    person.press(`node -e '${page}'\r`);
    await person.sees(/^port=\d+$/m);
    const port = Number(/^port=(\d+)$/m.exec(person.screen)![1]);

    const ports = async () =>
      ((await server.call("GET", `${path}/ports`)).json as { items: { port: number }[] }).items;
    await vi.waitUntil(async () => (await ports()).some((one) => one.port === port), waiting);
    const preview = await server.call("POST", `${path}/previews`, { port });
    expect(preview.status, preview.text).toBe(201);
    const shown = await fetch(`${server.url}/${(preview.json as { path: string }).path}deep?a=b`);
    expect([shown.status, await shown.text()]).toEqual([200, "made in the sandbox, asked /deep?a=b"]);
    person.press("\u0003exit 4\r");
    await person.left;
    expect(person.received).toContain("[ended 4]");
  },
);
