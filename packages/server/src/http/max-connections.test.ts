import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { silentLogger } from "../lib/logger.ts";
import { openRegistry } from "../observability/metrics-registry.ts";
import type { Gauges } from "../observability/gauges.ts";
import { Metrics } from "../observability/metrics.ts";
import { limitConnections, maxConnections } from "./max-connections.ts";

test.each([
  [1_024, 512],
  [90, 45],
  [65_536, 65_024],
  [null, null],
])(
  "F13: some file handles of a process are reserved for other uses than connections",
  (openFileLimit, limit) => {
    expect(maxConnections(openFileLimit)).toBe(limit);
  },
);

test("F13: a connection above the limit is closed, and the open ones are served", async () => {
  const warnings: object[] = [];
  const server = createServer((_request, reply) => reply.end("here"));
  limitConnections(server, 3, { ...silentLogger, warn: (fields) => warnings.push(fields) });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const ask = async (): Promise<string> => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {}); // A closed connection is what is looked for.
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return await new Promise((resolve) => {
      socket.once("close", () => resolve("closed"));
      socket.once("data", () => resolve("served"));
    });
  };
  const answers: string[] = [];
  for (let count = 0; count < 5; count += 1) answers.push(await ask());
  expect(answers).toEqual(["served", "served", "served", "closed", "closed"]);
  expect(warnings).toEqual([{ max: 3 }]);
  server.closeAllConnections();
  server.close();
});

test("F13: without file handles the metrics are refused, later available again, and the process survives", async () => {
  let isShort = true;
  const metrics = new Metrics(noGauges, async (gauges) => {
    if (isShort) throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
    return await openRegistry(gauges);
  });
  for (let count = 0; count < 1_000; count += 1) metrics.appended(1);
  await expect(metrics.read()).rejects.toThrow("too many open files");
  isShort = false;
  expect((await metrics.read()).text).toContain("convoke_journal_append_duration_seconds_count 1000");
  metrics[Symbol.dispose]();
});

const noGauges = (): Gauges => ({
  conversationsByStatus: async () => new Map(),
  sandboxesByStatus: async () => new Map(),
  wallsRunning: () => 0,
  openSockets: () => 0,
  webhooks: () => [],
});
