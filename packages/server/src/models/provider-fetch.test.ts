import { gzipSync } from "node:zlib";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createProviderFetch } from "./provider-fetch.ts";

async function errorOf(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const response = await createProviderFetch(fetch, {})(url);
    expect(response.status).toBe(500);
    const { error } = (await response.json()) as { error: { message: string } };
    return error.message;
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("hardening 3: of the body of an error no more is unpacked than is kept", async () => {
  const member = gzipSync(Buffer.alloc(10_000_000, "x"));
  const bomb = Buffer.concat(Array.from({ length: 70 }, () => member));
  const [processor, memory] = [process.cpuUsage(), process.memoryUsage().rss];
  const message = await errorOf((_, reply) => {
    reply.writeHead(500, { "content-type": "text/plain", "content-encoding": "gzip" });
    reply.end(bomb);
  });
  expect(message).toBe("x".repeat(20_000));
  // It took seven seconds and 1.56 GiB.
  expect(process.cpuUsage(processor).user).toBeLessThan(1_000_000);
  expect(process.memoryUsage().rss - memory).toBeLessThan(200_000_000);
});

test("hardening 3: a body that never ends is an error as soon as enough of it is there", async () => {
  const message = await errorOf((_, reply) => {
    reply.writeHead(500, { "content-type": "text/plain" });
    reply.write("y".repeat(30_000));
  });
  expect(message).toHaveLength(20_000);
});

test("hardening 3: the title of a web page is found at once, and a page of beginnings has none", async () => {
  const answer = (page: string) => errorOf((_, reply) => reply.writeHead(500).end(page));
  expect(await answer('<html><TITLE class="a"> Bad gateway </TITLE>')).toBe("Bad gateway");
  const before = process.cpuUsage();
  expect(await answer("<title ".repeat(3_000))).toBe("a web page");
  expect(process.cpuUsage(before).user).toBeLessThan(500_000);
});
