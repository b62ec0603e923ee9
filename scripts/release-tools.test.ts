import { expect, test } from "vitest";
import { missingTools } from "./release-tools.ts";

test("what a release needs of the system is named at its start, with the package that has it", () => {
  expect(missingTools(() => true)).toEqual([]);
  expect(missingTools((command) => command !== "aarch64-linux-gnu-strip")).toEqual([
    "aarch64-linux-gnu-strip is missing: apt-get install binutils-aarch64-linux-gnu",
  ]);
  expect(missingTools(() => false)).toContain("dpkg-deb is missing: apt-get install dpkg");
});
