import { PassThrough } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { StdioTransport } from "./stdio-transport.ts";

test("security 4: a program that writes a message of more values than anybody needs is ended", async () => {
  const output = new PassThrough();
  let endings = 0;
  const transport = new StdioTransport(() => ({
    input: new PassThrough(),
    output,
    ended: new Promise(() => {}),
    [Symbol.asyncDispose]: async () => void (endings += 1),
  }));
  const messages: JSONRPCMessage[] = [];
  const closed = Promise.withResolvers<void>();
  const onmessage = (message: JSONRPCMessage): number => messages.push(message);
  Object.assign(transport, { onmessage, onclose: closed.resolve });
  await transport.start();
  output.write('{"jsonrpc":"2.0","id":1,"result":{}}\n');
  output.write(`{"jsonrpc":"2.0","id":2,"result":{"x":[${"[],".repeat(300_000)}[]]}}\n`);
  await closed.promise;
  expect(messages).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }]);
  expect(transport.end).toBe("The program wrote a message of too many values.");
  expect(endings).toBe(1);
});
