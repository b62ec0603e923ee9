import { createHash } from "node:crypto";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clipText, saveFullText, shortNotice, truncateText } from "./truncate.ts";

let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "truncate-"));
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

describe("tools 20.1.10: truncation", () => {
  test("text at the limit is unchanged", async () => {
    expect(await truncateText("x".repeat(500), { limit: 500 })).toBe("x".repeat(500));
  });

  test("the result has exactly the limit and the head gets the odd character", () => {
    const clipped = clipText("a".repeat(50) + "z".repeat(50), 21, "<cut>");
    expect(clipped).toBe("a".repeat(8) + "<cut>" + "z".repeat(8));
    expect(clipText("a".repeat(50) + "z".repeat(50), 200, "<cut>")).toHaveLength(100);
  });

  test("an odd number of free characters goes to the head", async () => {
    const limit = shortNotice.length + 11;
    const clipped = await truncateText("a".repeat(300) + "z".repeat(300), { limit });
    expect(clipped).toBe("a".repeat(6) + shortNotice + "z".repeat(5));
  });

  test("a notice longer than the limit is cut to the limit", () => {
    expect(clipText("x".repeat(100), 4, "<notice>")).toBe("<not");
  });

  test("a cut through a surrogate pair keeps length and stays well formed", () => {
    const clipped = clipText("😀".repeat(100), shortNotice.length + 10, shortNotice);
    expect(clipped).toHaveLength(shortNotice.length + 10);
    expect(clipped.isWellFormed()).toBe(true);
  });

  test("the complete text is saved under its hash and the notice names file and line", async () => {
    const text = Array.from({ length: 5000 }, (_, index) => `line ${index + 1}`).join("\n");
    const clipped = await truncateText(text, { limit: 2000, save: { dir, prefix: "terminal" } });
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 8);
    const file = join(dir, `terminal_output_${hash}.txt`);
    expect(clipped).toHaveLength(2000);
    expect(await readFile(file, "utf8")).toBe(text);
    const head = clipped.slice(0, clipped.indexOf("<response clipped>"));
    expect(clipped).toContain(
      `${file}; the part that is missing here begins at its line ${head.split("\n").length}.`,
    );
    await saveFullText(text, dir, "terminal");
    expect(await readdir(dir)).toEqual([`terminal_output_${hash}.txt`]);
  });
});
