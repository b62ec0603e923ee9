import { execFileSync, spawnSync } from "node:child_process";
import { globSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { findHelm, findValidator, whyNoTools } from "./tools.ts";

const chart = path.join(import.meta.dirname, "convoke");
const why = whyNoTools();
const skipped = why === null ? "" : ` (skipped: ${why})`;
/** The oldest that the chart is for, and the newest that is known. */
const releases = ["1.29", "1.37"];
const sets = globSync("ci/*-values.yaml", { cwd: chart }).toSorted();

type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: unknown;
};

let helm = "";
let validator = "";
beforeAll(() => {
  if (why !== null) return;
  helm = findHelm();
  validator = findValidator();
});

const render = (release: string, ...words: string[]) =>
  spawnSync(helm, ["template", "agents", chart, "--kube-version", release, ...words], { encoding: "utf8" });

const cases = sets.flatMap((values) => releases.map((release) => [values, release] as const));

test.runIf(why === null).each(cases)(`%s is what Kubernetes %s accepts${skipped}`, (values, release) => {
  const { status, stdout, stderr } = render(release, "--values", path.join(chart, values));
  expect([status, stderr]).toEqual([0, ""]);
  const manifests = parseAllDocuments(stdout).map((one): Manifest => one.toJS());
  expect(manifests.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["Service", "StatefulSet"]));
  // The schema of this kind is not one of Kubernetes; what else there is must be known.
  const known = manifests.filter(({ kind }) => kind !== "ServiceMonitor");
  using folder = mkdtempDisposableSync(path.join(tmpdir(), "convoke-chart-"));
  const file = path.join(folder.path, "chart.yaml");
  writeFileSync(file, known.map((one) => JSON.stringify(one)).join("\n---\n"));
  const words = ["--strict", "--kubernetes-version", release, file];
  const { status: code, stdout: out, stderr: err } = spawnSync(validator, words, { encoding: "utf8" });
  expect([code, (out + err).match(/ passed for /g)?.length]).toEqual([0, known.length]);
});

test.runIf(why === null)(`several servers without a database are refused by name${skipped}`, () => {
  const { status, stderr } = render("1.37", "--set", "replicas=2");
  expect(status).not.toBe(0);
  expect(stderr).toContain("/database/existingSecret");
});

test.runIf(why === null)(`helm lint has nothing to say${skipped}`, () => {
  expect(execFileSync(helm, ["lint", "--strict", chart], { encoding: "utf8" })).toContain(
    "0 chart(s) failed",
  );
});

test.runIf(why === null)(`docker/kubernetes.yaml is what Kubernetes accepts${skipped}`, () => {
  for (const release of releases) {
    const file = path.resolve("docker/kubernetes.yaml");
    const { status } = spawnSync(validator, ["--strict", "--kubernetes-version", release, file]);
    expect([release, status]).toEqual([release, 0]);
  }
});
