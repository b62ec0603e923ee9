import { expect, test } from "vitest";
import { internalAddress, internalPlace } from "./server-address.ts";

const listening = { address: "0.0.0.0", family: "IPv4", port: 40_001 };
const plan = { host: "0.0.0.0", port: 8000, number: 2 };

test("on a data folder the internal listener is on loopback, whatever the server listens on", () => {
  expect(internalPlace({ ...plan, database: null })).toEqual({ host: "127.0.0.1", port: 0 });
  expect(internalAddress({ ...plan, database: null }, { ...listening, address: "127.0.0.1" }, null)).toBe(
    "http://127.0.0.1:40001",
  );
});

test("with a database the internal listener is where the other machines reach this one", () => {
  const database = { nodeAddress: null };
  expect(internalPlace({ ...plan, database })).toEqual({ host: "0.0.0.0", port: 0 });
  expect(internalAddress({ ...plan, database }, listening, "10.0.0.7")).toBe("http://10.0.0.7:40001");
});

test("with an address of its own each process has the port behind it, by its number", () => {
  const database = { nodeAddress: "http://node-a:9000" };
  expect(internalPlace({ ...plan, database })).toEqual({ host: "0.0.0.0", port: 8002 });
  expect(internalAddress({ ...plan, database }, { ...listening, port: 8002 }, "10.0.0.7")).toBe(
    "http://node-a:9002",
  );
  const secure = { nodeAddress: "https://node-a" };
  expect(internalAddress({ ...plan, database: secure }, listening, null)).toBe("https://node-a:445");
});
