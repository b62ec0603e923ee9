import { expect, test } from "vitest";
import type { EgressRecord } from "../egress.ts";
import { EgressLedger } from "./egress-ledger.ts";
import { Refused } from "./refusal.ts";

const open = (): { ledger: EgressLedger; records: EgressRecord[] } => {
  const records: EgressRecord[] = [];
  return { ledger: new EgressLedger((record) => void records.push(record), 3_600_000), records };
};

test("a program that names any number of hosts gets a bounded number of rows and records", () => {
  const { ledger, records } = open();
  for (let at = 0; at < 5_000; at += 1) {
    ledger.refuse(new Refused({ host: `h${at}.example`, port: 443 }, "no-rule", "No."));
  }
  expect(records).toHaveLength(1_001);
  expect(ledger.totals()).toHaveLength(1_001);
  expect(ledger.totals().at(-1)).toMatchObject({ host: "(other hosts)", refusals: 4_000 });
  ledger[Symbol.dispose]();
  expect(records).toHaveLength(1_002);
  expect(records.at(-1)).toMatchObject({ host: "(other hosts)", reason: "no-rule", count: 3_999 });
});

test("lines for the agent are few, and say what a rule of a read-only host says", () => {
  const { ledger } = open();
  const host = { host: "pypi.org", port: 443 };
  ledger.refuse(new Refused(host, "read-only", "This host is read-only; PUT is not allowed."));
  expect(ledger.refusalsSince(0).text).toBe(
    "Network: pypi.org:443 was refused (This host is read-only; PUT is not allowed).",
  );
  const { mark } = ledger.refusalsSince(0);
  for (let at = 0; at < 10; at += 1) {
    ledger.refuse(new Refused({ host: `h${at}.example`, port: 443 }, "denied", "No."));
  }
  const lines = ledger.refusalsSince(mark).text.split("\n");
  expect(lines).toHaveLength(9);
  expect(lines.at(-1)).toBe("Network: 2 more hosts were refused.");
});

test("bytes count for the host that they belong to", () => {
  const { ledger } = open();
  const host = { host: "a.example", port: 22 };
  ledger.begin(host);
  ledger.sent(host, 3);
  ledger.received(host, 5);
  expect(ledger.totals()).toEqual([{ ...host, requests: 1, refusals: 0, sentBytes: 3, receivedBytes: 5 }]);
});
