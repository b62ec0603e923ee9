import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

const cache = path.resolve("node_modules/.cache/chart-tools");
const helmModule = "helm.sh/helm/v3/cmd/helm@v3.22.0";
const validator = "kubernetes-validate==1.37.0";

const works = (file: string, ...words: string[]): boolean => spawnSync(file, words).status === 0;

const builtHelm = path.join(cache, "bin/helm");
const builtValidator = path.join(cache, "python/bin/kubernetes-validate");

/** Why the chart cannot be checked here; null when it can. */
export function whyNoTools(): string | null {
  if (findInstalledHelm() === null && !works("go", "version"))
    return "neither helm nor go, which builds it, is installed";
  if (!existsSync(builtValidator) && !works("python3", "-m", "venv", "--help"))
    return "python3 with venv is not installed";
  return null;
}

/** The program helm where nothing has to be fetched for it; null elsewhere. */
export function findInstalledHelm(): string | null {
  if (works("helm", "version")) return "helm";
  return existsSync(builtHelm) ? builtHelm : null;
}

/** The program helm: of this machine, or built once from its Go module, which takes minutes. */
export function findHelm(): string {
  const installed = findInstalledHelm();
  if (installed === null) {
    execFileSync("go", ["install", helmModule], {
      env: { ...process.env, GOBIN: path.dirname(builtHelm), GOFLAGS: "-mod=mod" },
      stdio: "inherit",
    });
  }
  return installed ?? builtHelm;
}

/** The program that knows the schemas of Kubernetes, in a Python environment of its own; it is fetched once. */
export function findValidator(): string {
  if (!existsSync(builtValidator)) {
    const python = path.join(cache, "python");
    execFileSync("python3", ["-m", "venv", "--clear", python], { stdio: "inherit" });
    execFileSync(path.join(python, "bin/pip"), ["install", "--quiet", validator], { stdio: "inherit" });
  }
  return builtValidator;
}
