import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { releaseChangelog, unreleasedPart } from "./changelog.ts";

const changelog = `# Changelog

What users notice. Nothing has been released yet: all of this will be 0.2.0.

## Unreleased

### Added

- A thing.

## 0.1.0 - 2026-01-01

- The first.
`;

test("what was unreleased becomes the part of the version, and the next part is empty", () => {
  const released = releaseChangelog(changelog, "0.2.0", "2026-11-28");
  expect(released).toBe(`# Changelog

What users notice.

## Unreleased

## 0.2.0 - 2026-11-28

### Added

- A thing.

## 0.1.0 - 2026-01-01

- The first.
`);
  expect(unreleasedPart(released)).toBe("");
  expect(() => releaseChangelog(released, "0.3.0", "2026-11-29")).toThrow("nothing below");
});

test("a version that is there, headings alone, and a changelog without the part are refused", () => {
  expect(() => releaseChangelog(changelog, "0.1.0", "2026-11-28")).toThrow("a part for 0.1.0 already");
  expect(() => releaseChangelog(changelog.replace("- A thing.\n", ""), "0.2.0", "2026-11-28")).toThrow(
    "nothing below",
  );
  expect(() => unreleasedPart("# Changelog\n")).toThrow('no heading "## Unreleased"');
});

test("the last part of a changelog may be the unreleased one, as ours is until the first release", () => {
  expect(unreleasedPart("## Unreleased\n\n- A thing.\n")).toBe("- A thing.");
  const own = readFileSync(path.resolve(import.meta.dirname, "../CHANGELOG.md"), "utf8");
  expect(own).toMatch(/^## Unreleased$/m);
});
