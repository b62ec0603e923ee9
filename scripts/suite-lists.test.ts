import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";

test("every test file that vitest.config.ts names is there", () => {
  const config = readFileSync("vitest.config.ts", "utf8");
  const patterns = Array.from(config.matchAll(/"(packages\/[^"]+\.test\.ts)"/g), ([, pattern]) => pattern!);
  const found = new Map<string, number>();
  for (const pattern of patterns.flatMap(expandBraces)) {
    const name = basename(pattern);
    found.set(name, (found.get(name) ?? 0) + globSync(pattern).length);
  }
  expect(patterns.length).toBeGreaterThan(10);
  expect([...found].filter(([, count]) => count === 0).map(([name]) => name)).toEqual([]);
});

function expandBraces(pattern: string): string[] {
  const group = /\{([^}]+)\}/.exec(pattern);
  if (group === null) return [pattern];
  const [whole, choices] = group;
  return choices!.split(",").flatMap((choice) => expandBraces(pattern.replace(whole, choice)));
}
