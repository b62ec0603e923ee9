import { expect, test } from "vitest";
import { fuzz } from "./fuzz.ts";

/** A few requests for every operation; `CONVOKE_FUZZ_REQUESTS=10000` is the long version. */
const count = Number(process.env["CONVOKE_FUZZ_REQUESTS"] ?? "400");
const timeoutMs = 300_000 + count * 120;

test(
  "P57: requests generated from the served document, half of them invalid, never break the contract or the server",
  async () => {
    const { sent, operations, findings } = await fuzz({ count, seed: 2026 });
    console.log(`${sent} requests to ${operations} operations`);
    expect(findings).toEqual([]);
    expect(sent).toBe(count);
    expect(count).toBeGreaterThan(operations);
  },
  timeoutMs,
);
