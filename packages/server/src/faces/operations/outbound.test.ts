import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { startTestServer } from "../../testing/start-server.ts";

/** Hears of every connection that this process begins, whichever library does it, and of every name it looks up. */
function listen() {
  const targets = new Set<string>();
  const names = new Set<string>();
  const onSocket = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    socket.on("lookup", (_error, _address, _family, host) => names.add(host));
    socket.on("connectionAttempt", (address, port) => targets.add(`${address}:${port}`));
  };
  subscribe("net.client.socket", onSocket);
  return { targets, names, [Symbol.dispose]: () => void unsubscribe("net.client.socket", onSocket) };
}

test("P60: a server with default settings calls the model of its conversations and nobody else", async () => {
  using received = listen();
  await using server = await startTestServer({
    script: {
      turns: [
        { tool_calls: [{ name: "terminal", arguments: { command: "echo hi" } }] },
        { text: "Done." },
        { text: "A title." },
      ],
      loop: true,
    },
  });
  const id = await server.runTo("finished", "Say hi.");
  await server.call("POST", `/api/conversations/${id}/generate_title`, {});
  const { paths } = (await server.call("GET", "/openapi.json")).json as { readonly paths: object };
  // This one is a person's question which model servers answer on this machine; local-servers.test.ts has whom it asks.
  const isAsking = (path: string): boolean => path === "/api/llm/local-servers";
  const readable = Object.entries(paths).filter(
    ([path, methods]) => "get" in methods && !path.includes("{") && !isAsking(path),
  );
  for (const [path] of readable) await server.call("GET", path);
  await server.restart();
  expect(readable.length).toBeGreaterThan(30);
  const own = [server.url, server.model.url].map((url) => new URL(url).host);
  expect([...received.targets].toSorted()).toEqual(own.toSorted());
  expect([...received.names]).toEqual([]);
});

test("P60: calls of a known name are detected, so that no detection is meaningful", async () => {
  using received = listen();
  await expect(fetch("http://nobody.invalid:8080/")).rejects.toThrow("fetch failed");
  expect([...received.names]).toEqual(["nobody.invalid"]);
});
