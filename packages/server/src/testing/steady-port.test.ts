import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { findSteadyPort } from "./steady-port.ts";

test("a steady port is free to listen on, and given to nobody else, whoever looks for one", async () => {
  const ports = await Promise.all(Array.from({ length: 500 }, () => findSteadyPort()));
  expect(new Set(ports).size).toBe(500);
  const server = createServer().listen(ports[0], "127.0.0.1");
  await once(server, "listening");
  server.close();
  await once(server, "close");
  // What another process would see.
  const other = createSocket("udp4").bind({ port: ports[0]!, address: "127.0.0.1", exclusive: true });
  await expect(once(other, "listening")).rejects.toThrow("EADDRINUSE");
  other.close();
});
