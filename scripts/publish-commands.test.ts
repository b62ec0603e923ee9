import { expect, test } from "vitest";
import { publishCommands } from "./publish-commands.ts";

const packed = [
  { name: "convoke", version: "1.0.0", file: "convoke-1.0.0.tgz" },
  { name: "@convoke/client", version: "1.0.0", file: "convoke-client-1.0.0.tgz" },
  { name: "@convoke/protocol", version: "1.0.0", file: "convoke-protocol-1.0.0.tgz" },
  { name: "@convoke/node-linux-x64", version: "24.21.0", file: "convoke-node-linux-x64-24.21.0.tgz" },
];

test("what others depend on is published first, and a Node only once", () => {
  const files = (isPublished: boolean): readonly (string | undefined)[] =>
    publishCommands(packed, "1.0.0", () => isPublished).map(([, file]) => file);
  const libraries = ["protocol-1.0.0", "client-1.0.0"].map((name) => `./dist/release/convoke-${name}.tgz`);
  const rest = [...libraries, "./dist/release/convoke-1.0.0.tgz"];
  expect(files(true)).toEqual(rest);
  expect(files(false)).toEqual(["./dist/release/convoke-node-linux-x64-24.21.0.tgz", ...rest]);
});

test("a version before a release does not become the default of npm install", () => {
  const [first] = publishCommands(packed, "1.0.0-beta.1", () => true);
  expect(first?.slice(2)).toEqual(["--provenance", "--access", "public", "--tag", "next"]);
});
