import { cpSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { commandManifest, libraryManifest, readManifest } from "./publish-manifest.ts";
import { setRepository } from "./set-repository.ts";

const root = path.resolve(import.meta.dirname, "..");

function openCopy() {
  const folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-repository-"));
  for (const file of ["package.json", "packages/client/package.json"])
    cpSync(path.join(root, file), path.join(folder.path, file));
  return folder;
}

test("no manifest names an address that nobody gave", () => {
  using folder = openCopy();
  for (const manifest of [commandManifest(folder.path), libraryManifest(folder.path, "client")]) {
    const written = JSON.parse(JSON.stringify(manifest)) as object;
    expect(Object.keys(written)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:repository|homepage|bugs)$/)]),
    );
  }
  expect(() => setRepository(folder.path, null)).toThrow("--repository https://HOST/OWNER/NAME");
});

test.each(["https://code.example.org/owner/name", "https://code.example.org/owner/name.git"])(
  "%s is written once, and every manifest has it",
  (address) => {
    using folder = openCopy();
    setRepository(folder.path, address);
    const repository = { type: "git", url: "git+https://code.example.org/owner/name.git" };
    expect(commandManifest(folder.path)).toMatchObject({ repository });
    expect(libraryManifest(folder.path, "client")).toMatchObject({
      repository: { ...repository, directory: "packages/client" },
    });
    setRepository(folder.path, null);
    expect(readManifest(folder.path)).toMatchObject({ repository });
  },
);

test.each(["owner/name", "http://example.org/a/b", "https://example.org", "https://me:key@example.org/a/b"])(
  "%s is refused",
  (address) => {
    using folder = openCopy();
    expect(() => setRepository(folder.path, address)).toThrow("--repository must be an address like");
  },
);
