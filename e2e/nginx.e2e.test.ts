import { once } from "node:events";
import { request } from "node:https";
import path from "node:path";
import type { ConversationInfo, SandboxInfo } from "@convoke/protocol";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket, type ClientOptions } from "ws";
import { findNginx, Nginx, proxyHost } from "./nginx.ts";
import { CommandFolder } from "./run-command.ts";

const missing = findNginx();
const key = "e2e-session-key";
const port = 8011;

/** Replies with the requested address, and echoes after an upgrade. */
const echoServer = `
const server = require("node:http").createServer((request, response) => response.end("page " + request.url));
server.on("upgrade", (request, socket) => {
  socket.write("HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n");
  socket.on("data", (data) => socket.write(String(data).toUpperCase())).on("error", () => {});
});
server.listen(${port}, "127.0.0.1");
`;

describe.skipIf(missing !== null)(
  `P16: behind nginx with TLS and a path prefix (${missing ?? "here"})`,
  () => {
    let folder: CommandFolder;
    let nginx: Nginx;
    let model = "";
    let sandbox: SandboxInfo;

    beforeAll(async () => {
      folder = await CommandFolder.open();
      model = await folder.startModel([
        { text: "I look.", tool_calls: [{ name: "terminal", arguments: { command: "echo from-inside" } }] },
        { text: "Done." },
      ]);
      const { ready } = await folder.start(["serve", "--json", "--port", "0"], {
        SESSION_API_KEY: key,
        CONVOKE_TRUSTED_PROXIES: "127.0.0.1",
        CONVOKE_ALLOWED_HOSTS: proxyHost,
      });
      nginx = await Nginx.start(path.join(folder.folder, "nginx"), ready.url);
      const started = await nginx.call("POST", `${nginx.base}/api/v1/sandboxes`, key);
      const { id } = JSON.parse(started.text) as SandboxInfo;
      const find = async (): Promise<SandboxInfo | null> => {
        const { text } = await nginx.call("GET", `${nginx.base}/api/v1/sandboxes?id=${id}`, key);
        const [info] = JSON.parse(text) as [SandboxInfo];
        return info.status === "RUNNING" ? info : null;
      };
      sandbox = await vi.waitUntil(find, { timeout: 200_000, interval: 50 });
    });

    afterAll(async () => {
      if (sandbox !== undefined)
        await nginx.call("DELETE", `${nginx.base}/api/v1/sandboxes/${sandbox.id}`, key);
      await nginx?.[Symbol.asyncDispose]();
      await folder?.[Symbol.asyncDispose]();
    });

    const urlOf = (name: string): string => sandbox.exposed_urls!.find((url) => url.name === name)!.url;

    test("addresses in answers are those of the proxy, and none names localhost", async () => {
      expect(urlOf("AGENT_SERVER")).toBe(`${nginx.base}/sandboxes/${sandbox.id}`);
      expect(JSON.stringify(sandbox)).not.toMatch(/localhost|127\.0\.0\.1/);
    });

    test("REST and a WebSocket that stays open beyond the proxy's idle timeout", async () => {
      const base = urlOf("AGENT_SERVER");
      const started = await nginx.call("POST", `${base}/api/conversations`, sandbox.session_api_key, {
        agent: {
          kind: "Agent",
          llm: { model: "openai/scripted", base_url: `${model}/v1`, api_key: "llm-key", num_retries: 0 },
          tools: [{ name: "terminal" }],
        },
        workspace: { kind: "LocalWorkspace", working_dir: "." },
      });
      expect(started.status, started.text).toBe(201);
      const { id } = JSON.parse(started.text) as ConversationInfo;
      const { path: target, host, headers, ca, servername } = nginx.options(`${base}/sockets/events/${id}`);
      const socketOptions: ClientOptions & { servername: string } = {
        headers: { ...headers, "x-session-api-key": sandbox.session_api_key! },
        ca,
        servername,
      };
      const socket = new WebSocket(`wss://${host}:${nginx.port}${target}`, socketOptions);
      try {
        const frames: string[] = [];
        socket.on("message", (data: Buffer) => frames.push(data.toString()));
        await once(socket, "open");
        // Sent every ten seconds, so that a proxy that closes idle connections after sixty does not.
        await once(socket, "ping");
        socket.send(JSON.stringify({ role: "user", content: [{ type: "text", text: "Look." }] }));
        const hasAnswer = (): boolean =>
          frames.some(
            (frame) => frame.includes('"kind":"ObservationEvent"') && frame.includes("from-inside"),
          );
        await vi.waitUntil(hasAnswer, { timeout: 90_000, interval: 20 });
      } finally {
        socket.terminate();
      }
    });

    test("ports: pages and upgrades", async () => {
      const file = Buffer.from(echoServer).toString("base64");
      const command = `echo ${file} | base64 -d > echo.cjs; node echo.cjs > echo.log 2>&1 & sleep 0.1`;
      const bash = `${urlOf("AGENT_SERVER")}/api/bash/execute_bash_command`;
      expect((await nginx.call("POST", bash, sandbox.session_api_key, { command })).status).toBe(200);
      const page = `${urlOf("WORKER_1")}a?b=c`;
      expect(page).toMatch(/^https:\/\/agents\.test:\d+\/convoke\/sandboxes\/.*\/ports\/8011\/a\?b=c$/);
      await vi.waitUntil(async () => (await nginx.call("GET", page, null)).status === 200, {
        timeout: 90_000,
        interval: 50,
      });
      expect((await nginx.call("GET", page, null)).text).toBe("page /a?b=c");
      const options = nginx.options(page);
      const asked = request({
        ...options,
        headers: { ...options.headers, Connection: "Upgrade", Upgrade: "echo" },
      });
      asked.end();
      const [, stream] = (await once(asked, "upgrade")) as [unknown, import("node:net").Socket];
      stream.write("hello");
      expect(String((await once(stream, "data"))[0])).toBe("HELLO");
      stream.destroy();
    });
  },
);
