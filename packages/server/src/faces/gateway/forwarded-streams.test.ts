import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CreatedKey } from "@convoke/protocol";
import { MemorySandboxes } from "../../testing/memory-sandboxes.ts";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";

const owner = "ada";
const sandboxes = new MemorySandboxes();
/** Answers without an end, also upgrades. */
const program = createServer((_request, response) => void response.write("begun"));
program.on("upgrade", (_request, socket: Socket) => {
  socket.on("error", () => {});
  socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nbegun");
});

let server: TestServer;
beforeAll(async () => {
  program.listen(0, "127.0.0.1");
  await once(program, "listening");
  const { port } = program.address() as AddressInfo;
  sandboxes.openPort = async () => connect(port, "127.0.0.1");
  server = await startTestServer({
    openSandboxes: async () => sandboxes,
    times: { keyCheckEveryMs: 20 },
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  program.closeAllConnections();
  program.close();
});

/** Resolves when the program has answered, with the end of the connection. */
async function open(
  path: string,
  headers: readonly string[],
  key: string,
): Promise<{ readonly closed: Promise<unknown> }> {
  const { port, host } = new URL(server.url);
  const socket = connect(Number(port), "127.0.0.1");
  const sent = key === "" ? [] : [`X-Session-API-Key: ${key}`];
  socket.write([`GET ${path} HTTP/1.1`, `Host: ${host}`, ...headers, ...sent, "", ""].join("\r\n"));
  const closed = once(socket, "close");
  socket.on("error", () => {});
  let received = "";
  socket.on("data", (data: Buffer) => (received += data.toString()));
  await expect.poll(() => received).toContain("begun");
  return { closed };
}

const setRole = async (role: string): Promise<void> => {
  expect((await server.call("PATCH", `/api/users/${owner}`, { role })).status).toBe(200);
};

type Way = { readonly key: CreatedKey; readonly id: string };

const endings: [string, boolean, (way: Way) => Promise<unknown>][] = [
  ["a key is revoked", true, ({ key }) => server.call("DELETE", `/api/keys/${key.id}`)],
  ["the user may less", true, () => setRole("viewer")],
  ["the user may less", false, () => setRole("viewer")],
  ["the sandbox is gone", false, ({ id }) => sandboxes.remove(owner, id)],
];

test.each(endings)(
  "what is forwarded to a port ends when %s (key in a header: %s)",
  async (_, isHeader, end) => {
    const key = (await server.call("POST", "/api/keys", { user: owner })).json as CreatedKey;
    await setRole("member");
    const { id } = await sandboxes.start(owner, "first");
    const gate = isHeader ? id : `${id}~${sandboxes.portKey(id)}`;
    const path = `/sandboxes/${gate}/ports/8011/`;
    const sent = isHeader ? key.key : "";
    const upgraded = await open(path, ["Connection: Upgrade", "Upgrade: echo"], sent);
    const plain = await open(path, [], sent);
    await end({ key, id });
    await Promise.all([upgraded.closed, plain.closed]);
  },
);
