import { join } from "node:path";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import type { ConversationInfo } from "@convoke/protocol";
import { expect, test, vi } from "vitest";
import { ConvokeProcess } from "../../testing/convoke-process.ts";
import { startScriptedModel } from "../../testing/index.ts";

/** A proxy that leads everybody to one port of this machine and remembers whom they wanted. */
async function openProxy(port: number) {
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on("connect", (request, client, head) => {
    asked.push(request.url ?? "");
    const target = connect(port, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      target.write(head);
      client.pipe(target).pipe(client);
    });
    // Either side may be gone first.
    for (const side of [client, target]) side.on("error", () => [client, target].map((one) => one.destroy()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void proxy.close(() => resolve())),
  };
}

test("P60: with Node's switch a model is reached through the proxy of the environment, and nothing else is called", async () => {
  await using model = await startScriptedModel({ script: { turns: [{ text: "Done." }] } });
  await using proxy = await openProxy(Number(new URL(model.url).port));
  await using server = await ConvokeProcess.start({
    sandbox: "off",
    environment: {
      NODE_USE_ENV_PROXY: "1",
      HTTP_PROXY: proxy.url,
      HTTPS_PROXY: proxy.url,
      NO_PROXY: "127.0.0.1",
    },
  });
  const started = await server.call("POST", "/api/conversations", {
    agent: {
      kind: "Agent",
      llm: {
        model: "openai/scripted",
        base_url: "http://model.invalid/v1",
        api_key: "llm-key",
        num_retries: 1,
      },
      tools: [],
    },
    workspace: { kind: "LocalWorkspace", working_dir: join(server.folder, "work") },
    initial_message: { content: [{ type: "text", text: "Say something." }], run: true },
  });
  expect(started.status, started.text).toBe(201);
  const { id } = started.json as ConversationInfo;
  const status = async () =>
    ((await server.call("GET", `/api/conversations/${id}`)).json as ConversationInfo).execution_status;
  await vi.waitUntil(async () => (await status()) === "finished", { timeout: 120_000, interval: 20 });
  expect(proxy.asked).toEqual(["model.invalid:80"]);
});
