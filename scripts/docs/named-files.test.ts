import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
/** Decision records keep the names of their day. */
const documents = ["AGENTS.md", "CONTRIBUTING.md", "README.md", "docs/*.md", "docs/{design,guides}/*.md"];

test("every source file that the documents name is there", () => {
  const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n");
  const isThere = (name: string): boolean => files.some((file) => `/${file}`.endsWith(`/${name}`));
  const named = globSync(documents, { cwd: root }).flatMap((document) =>
    Array.from(
      readFileSync(path.join(root, document), "utf8").matchAll(/`(\w[\w./-]*\.tsx?)`/g),
      ([, name]) => `${document}: ${name}`,
    ),
  );
  expect(named.length).toBeGreaterThan(200);
  expect(named.filter((entry) => !isThere(entry.split(": ")[1]!))).toEqual([]);
});
