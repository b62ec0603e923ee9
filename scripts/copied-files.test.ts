import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { copiedFiles, sourceOfAsset } from "./copied-files.ts";

const root = path.resolve(import.meta.dirname, "..");
/** Packages of the recorder's repository that are published inside of others only. */
const unpublished = ["rrdom"];
const namesInRepository: Readonly<Record<string, string>> = { types: "@rrweb/types", utils: "@rrweb/utils" };

test.each(Object.keys(copiedFiles))("%s: the notices name every package that is in it", (asset) => {
  const { from } = sourceOfAsset(root, asset);
  const { sources } = JSON.parse(readFileSync(`${from}.map`, "utf8")) as { readonly sources: string[] };
  const packages = sources.map((source) => {
    const [, name = ""] = /^(?:\.\.\/)+(?:node_modules\/)?((?:@[^/]+\/)?[^/]+)\//.exec(source) ?? [];
    return namesInRepository[name] ?? name;
  });
  const held = copiedFiles[asset]!.holds;
  expect(
    [...new Set(packages)].filter((name) => !held.includes(name) && !unpublished.includes(name)),
  ).toEqual([]);
});

test("a file of our own is copied from where it is", () => {
  expect(sourceOfAsset("/repository", "packages/server/src/setup.sh")).toEqual({
    from: "/repository/packages/server/src/setup.sh",
    manifests: [],
  });
});
