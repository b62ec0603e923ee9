import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { watchLeaks } from "@convoke/tool-host/testing";
import { findSteadyPort } from "./steady-port.ts";

test("a steady port is free to listen on, given out once, and the search leaves nothing open", async () => {
  const leaks = watchLeaks();
  const ports = await Promise.all(Array.from({ length: 500 }, () => findSteadyPort()));
  await leaks.assertNone();
  expect(new Set(ports).size).toBe(500);
  const server = createServer().listen(ports[0], "127.0.0.1");
  await once(server, "listening");
  server.close();
  await once(server, "close");
});
