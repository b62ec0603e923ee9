import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { startTestServer } from "../../../testing/start-server.ts";

/** What a user may name: counts who asks. */
async function openTarget() {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    response.end("value");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test.each([
  [["127.0.0.0/8"], false],
  [["169.254.0.0/16"], true],
] as const)(
  "security 9: with %j blocked, an MCP server and a LookupSecret on loopback are called: %s",
  async (blockedAddresses, isCalled) => {
    await using target = await openTarget();
    const call = { name: "terminal", arguments: { command: "true" } };
    await using server = await startTestServer({
      script: { turns: [{ tool_calls: [call] }, { text: "Done." }] },
      config: { blockedAddresses },
    });
    const remote = { url: `${target.url}/mcp`, transport: "shttp" };
    const tried = await server.call("POST", "/api/mcp/test", { server: remote, timeout: 5 });
    expect(tried.status, tried.text).toBe(200);
    const askedByMcp = target.asked();
    await server.runTo("finished", "Go.", {
      secrets: { REMOTE: { kind: "LookupSecret", url: `${target.url}/secret` } },
    });
    expect([askedByMcp > 0, target.asked() > askedByMcp]).toEqual([isCalled, isCalled]);
    const failures = server.log.filter(({ message }) => message === "secret lookup failed");
    expect(JSON.stringify(failures).includes("does not let it call 127.0.0.1")).toBe(!isCalled);
  },
);
