import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { readText } from "../testing/echo-server.ts";
import { openContext } from "../testing/open-context.ts";
import { Front } from "./front.ts";

const problem = new Error("a mistake");

/** A front whose tunnels fail with that problem. */
async function openFront(): Promise<{ open: () => Promise<Socket>; reported: readonly unknown[] }> {
  const { context, agent, reported } = openContext();
  const front = new Front({ context, agent, onTunnel: async () => Promise.reject(problem) });
  const server = createServer({ allowHalfOpen: true }, (socket) => void front.serve(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return {
    open: async () => {
      const socket = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
      await once(socket, "connect");
      return socket;
    },
    reported,
  };
}

test.each([
  ["CONNECT", Buffer.from("CONNECT a.example.com:443 HTTP/1.1\r\n\r\n"), ""],
  ["SOCKS 5", Buffer.from([5, 1, 0, 5, 1, 0, 1, 1, 1, 1, 1, 0, 80]), "\u0005\u0000"],
])("a mistake in a tunnel by %s ends its connection, and is reported", async (_case, sent, answer) => {
  const { open, reported } = await openFront();
  const socket = await open();
  socket.write(sent);
  expect(await readText(socket)).toBe(answer);
  expect(reported).toEqual([problem]);
});
