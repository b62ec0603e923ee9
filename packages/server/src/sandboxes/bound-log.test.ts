import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { boundLog } from "./sandbox-directory.ts";

test("security 33: a log that a sandbox makes long is emptied but for its end, also while it is written", async () => {
  const directory = await mkdtemp(join(tmpdir(), "convoke-log-"));
  const file = join(directory, "log");
  try {
    await boundLog(file);
    await using writer = await open(file, "a");
    await writer.write("short\n");
    await boundLog(file);
    expect(await readFile(file, "utf8")).toBe("short\n");
    await writer.write("x".repeat(3 * 1024 * 1024) + "end\n");
    await boundLog(file);
    await writer.write("more\n");
    const text = await readFile(file, "utf8");
    expect(text.length).toBeLessThan(5_000);
    expect(text).toMatch(/^\(The log was longer[^]*xend\n\nmore\n$/);
  } finally {
    await rm(directory, { recursive: true });
  }
});
