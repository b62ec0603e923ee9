import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toAddressList } from "./address-list.ts";
import { createFilteredFetch } from "./filtered-fetch.ts";

let server: Server;
let port = 0;
let asked = 0;
beforeAll(async () => {
  server = createServer((request, response) => {
    asked += 1;
    if (request.url === "/to") response.writeHead(302, { location: `http://127.0.0.2:${port}/` });
    response.end("hello");
  });
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const causeOf = async (call: Promise<unknown>): Promise<string> => {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message : message;
};

const send = (blocked: readonly string[], url: string) =>
  createFilteredFetch(toAddressList(blocked, "TEST"))(url);

test("security 9: an address that is not blocked is called", async () => {
  expect(await (await send(["127.0.0.2"], `http://127.0.0.1:${port}/`)).text()).toBe("hello");
  expect(await (await send(["169.254.0.0/16"], `http://localhost:${port}/`)).text()).toBe("hello");
});

test.each([
  ["as a number", ["127.0.0.0/8"], "http://127.0.0.1"],
  ["in another spelling", ["127.0.0.0/8"], "http://0x7f.1"],
  ["as IPv6 has it", ["127.0.0.0/8"], "http://[::ffff:127.0.0.1]"],
  ["behind a name", ["127.0.0.0/8", "::1"], "http://localhost"],
])("security 9: a blocked address %s is not called", async (_how, blocked, url) => {
  const before = asked;
  expect(await causeOf(send(blocked, `${url}:${port}/`))).toMatch(/does not let it call/);
  expect(asked).toBe(before);
});

test("security 9: nor is one that a redirect leads to", async () => {
  const before = asked;
  expect(await causeOf(send(["127.0.0.2"], `http://127.0.0.1:${port}/to`))).toMatch(/call 127\.0\.0\.2/);
  expect(asked).toBe(before + 1);
});
