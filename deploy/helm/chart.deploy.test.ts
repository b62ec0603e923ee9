import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { findInstalledHelm } from "./tools.ts";

const chart = path.join(import.meta.dirname, "convoke");
const helm = findInstalledHelm();
const why = helm === null ? " (skipped: helm is not installed; at night it is built)" : "";
const run = (...words: string[]): string => execFileSync(helm ?? "", words, { encoding: "utf8" });

test.runIf(helm !== null)(`helm renders the chart with each set of values, and lints it${why}`, () => {
  expect(run("lint", "--strict", chart)).toContain("0 chart(s) failed");
  for (const values of globSync("ci/*-values.yaml", { cwd: chart })) {
    const rendered = run("template", "agents", chart, "--values", path.join(chart, values));
    const kinds = parseAllDocuments(rendered).map((one) => (one.toJS() as { readonly kind: string }).kind);
    expect([values, kinds]).toEqual([values, expect.arrayContaining(["Service", "StatefulSet"])]);
  }
});
