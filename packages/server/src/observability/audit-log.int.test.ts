import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { createSigner } from "../security/signer.ts";
import { openLimitedDisk } from "../testing/limited-disk.ts";
import { AuditLog } from "./audit-log.ts";
import { AuditPlace } from "./audit-place.ts";
import { verifyAudit } from "./verify-audit.ts";

const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

test.skipIf(process.getuid?.() !== 0)(
  "P54: lines wait while the disk is full, and the chain has no break",
  async () => {
    using disk = openLimitedDisk({ megabytes: 1, owner });
    if (disk === null) return;
    const directory = join(disk.path, "audit");
    const signer = createSigner([Buffer.alloc(32)]);
    const errors: object[] = [];
    const logger = { info: () => {}, warn: () => {}, error: (fields: object) => void errors.push(fields) };
    const read = (): Promise<string> => readFile(join(directory, "calls.jsonl"), "utf8").catch(() => "");
    {
      using place = new AuditPlace(directory, signer);
      await using log = new AuditLog({ place, name: "calls", clock: systemClock, logger, retryMs: 20 });
      log.append({ number: 1 });
      await expect.poll(read).toContain('"number":1');
      await disk.fill();
      log.append({ text: "x".repeat(300_000) });
      await expect.poll(() => errors).toMatchObject([{ waiting: 1 }]);
      await disk.free();
      log.append({ number: 2 });
    }
    const lines = (await read()).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { number: 1, n: 1 },
      { text: "x".repeat(300_000), n: 2 },
      { number: 2, n: 3 },
    ]);
    expect(await verifyAudit(directory, signer)).toMatchObject({ breaks: [], remarks: [] });
  },
);
