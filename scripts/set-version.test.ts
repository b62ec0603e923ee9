import { cpSync, mkdirSync, mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { setVersion } from "./set-version.ts";

const root = path.resolve(import.meta.dirname, "..");

test("the version is written wherever one of the packages says it, and nothing else changes", () => {
  using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-version-"));
  const chart = path.join(folder.path, "deploy/helm/convoke/Chart.yaml");
  mkdirSync(path.dirname(chart), { recursive: true });
  writeFileSync(chart, "apiVersion: v2\nversion: 0.0.1\nappVersion: 0.0.1\n");
  const from = readFileSync(path.join(root, "package.json"), "utf8");
  const { version: before, workspaces } = JSON.parse(from) as { version: string; workspaces: string[] };
  const files = [
    "package.json",
    "package-lock.json",
    ...workspaces.map((place) => `${place}/package.json`),
    "packages/server/src/lib/version.ts",
    "packages/tool-host/src/rpc/release.ts",
  ];
  for (const file of files) cpSync(path.join(root, file), path.join(folder.path, file), { recursive: true });
  expect(setVersion(folder.path, "7.8.9").toSorted()).toEqual(
    [...files, "deploy/helm/convoke/Chart.yaml"].toSorted(),
  );
  expect(readFileSync(chart, "utf8")).toBe("apiVersion: v2\nversion: 7.8.9\nappVersion: 7.8.9\n");
  const cli = JSON.parse(readFileSync(path.join(folder.path, "packages/cli/package.json"), "utf8")) as object;
  expect(cli).toMatchObject({ version: "7.8.9", dependencies: { "@convoke/server": "7.8.9" } });
  setVersion(folder.path, before);
  for (const file of files)
    expect(readFileSync(path.join(folder.path, file), "utf8"), file).toBe(
      readFileSync(path.join(root, file), "utf8"),
    );
});
