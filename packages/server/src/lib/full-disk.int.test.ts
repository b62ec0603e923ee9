import { join } from "node:path";
import { expect, test } from "vitest";
import { openLimitedDisk } from "../testing/limited-disk.ts";
import { describeStorageFault } from "./storage-fault.ts";

const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

test.skipIf(process.getuid?.() !== 0)(
  "F6: a failure that SQLite calls no more than that is one of a full disk where the disk is full",
  async () => {
    using disk = openLimitedDisk({ megabytes: 1, owner });
    if (disk === null) return;
    // Its shared memory cannot grow.
    const error = Object.assign(new Error("disk I/O error"), {
      errcode: 4874,
      path: join(disk.path, "application.sqlite"),
    });
    expect(describeStorageFault(error)).toContain("the disk failed");
    await disk.fill();
    expect(describeStorageFault(error)).toContain("the disk is full");
    await disk.free();
  },
);
