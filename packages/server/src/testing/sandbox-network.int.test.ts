import { mkdirSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import type { ConversationInfo, ConversationNetwork, SandboxInfo } from "@convoke/protocol";
import { expect, test, vi } from "vitest";
import { findBubblewrap, ownAccount } from "../sandboxes/find-bubblewrap.ts";
import { ConvokeProcess } from "./convoke-process.ts";
import { readAudit } from "./read-audit.ts";
import { startScriptedModel } from "./scripted-model/scripted-model-server.ts";

const probe = await findBubblewrap({
  self: ownAccount(),
  unprivileged: { uid: 65_534, gid: 65_534 },
  environment: process.env,
});
const pollOptions = { timeout: 100_000, interval: 20 };

async function openSite() {
  const paths: (string | undefined)[] = [];
  const site = createServer(({ url }: IncomingMessage, response) => {
    paths.push(url);
    response.end("the data");
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  const { port } = site.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, paths, [Symbol.dispose]: () => void site.close() };
}

test.skipIf(!probe.isUsable)(
  `in a sandbox a refused host is asked for, approved and reached, also after a kill of the server (needs a working bubblewrap: ${probe.detail})`,
  { timeout: 300_000 },
  async () => {
    using site = await openSite();
    const say = (name: string, given: object) => ({ tool_calls: [{ name, arguments: { ...given } }] });
    const get = (path: string) =>
      say("terminal", { command: `curl -sS -m 20 --noproxy '' http://${site.host}/${path}` });
    await using model = await startScriptedModel({
      script: {
        select: "in_order",
        turns: [
          get("first"),
          say("request_network", { hosts: [site.host], reason: "The data is there." }),
          get("second"),
          { text: "Done." },
          get("third"),
          { text: "Done." },
        ],
      },
    });
    await using server = await ConvokeProcess.start({ sandbox: "bubblewrap" });
    const { id } = (await server.call("POST", "/api/v1/sandboxes")).json as SandboxInfo;
    const statusOf = async () =>
      ((await server.call("GET", `/api/v1/sandboxes?id=${id}`)).json as SandboxInfo[])[0]?.status;
    await vi.waitUntil(async () => (await statusOf()) === "RUNNING", pollOptions);
    mkdirSync(join(server.dataDir, "sandboxes", id, "workspace"), { recursive: true });
    const path = `/sandboxes/${id}/api/conversations`;
    const started = await server.call("POST", path, {
      agent: {
        kind: "Agent",
        llm: { model: "openai/scripted", base_url: `${model.url}/v1`, api_key: "llm-key", num_retries: 0 },
        tools: [{ name: "terminal" }],
      },
      workspace: { kind: "LocalWorkspace", working_dir: "." },
      initial_message: { content: [{ type: "text", text: "Get the data." }], run: true },
    });
    expect(started.status, started.text).toBe(201);
    const conversation = `${path}/${(started.json as ConversationInfo).id}`;
    const untilStatus = async (status: string): Promise<void> => {
      const hasStatus = async () =>
        ((await server.call("GET", conversation)).json as ConversationInfo).execution_status === status;
      await vi.waitUntil(hasStatus, pollOptions);
    };
    const log = async (): Promise<string> => (await server.call("GET", `${conversation}/events/search`)).text;
    const untilRecorded = async (line: object): Promise<void> => {
      const network = async () => (await readAudit(server.dataDir)).network;
      await expect
        .poll(network, pollOptions)
        .toContainEqual(expect.objectContaining({ sandbox: id, ...line }));
    };

    await untilStatus("waiting_for_confirmation");
    expect(await log()).toContain("was refused (no rule). Ask for it with request_network.");
    expect(site.paths).toEqual([]);
    const waiting = (await server.call("GET", `${conversation}/approvals`)).json as {
      items: { action_id: string }[];
    };
    const answers = waiting.items.map(({ action_id }) => ({ action_id, accept: true }));
    await server.call("POST", `${conversation}/approvals`, { answers });
    await untilStatus("finished");
    expect(site.paths).toEqual(["/second"]);
    await untilRecorded({ kind: "refusal", reason: "no-rule" });
    const { hosts } = (await server.call("GET", `${conversation}/network`)).json as ConversationNetwork;
    expect(hosts).toMatchObject([{ host: "127.0.0.1", requests: 1, refusals: 1, received_bytes: 8 }]);

    await server.end("SIGKILL");
    await server.restart();
    const again = { role: "user", content: [{ type: "text", text: "Again." }], run: true };
    await server.call("POST", `${conversation}/events`, again);
    await vi.waitUntil(() => site.paths.length === 2, pollOptions);
    await untilStatus("finished");
    expect(site.paths).toEqual(["/second", "/third"]);
    await untilRecorded({ kind: "request", path: "/third", status: 200 });
  },
);
