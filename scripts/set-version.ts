import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Sources that say the version; tests hold them to the packages' own. */
const sources = ["packages/server/src/lib/version.ts", "packages/tool-host/src/rpc/release.ts"];

/** The chart, where there is one. */
const chart = "deploy/helm/convoke/Chart.yaml";

/**
 * Writes the version into all manifests of the workspace, into what they say of each other, the lock file, and the sources that name it.
 * Returns the changed files, relative to the root. The contract on the wire (`openapi-documents.ts`) has a version of its own.
 */
export function setVersion(root: string, version: string): readonly string[] {
  const manifests = ["package.json", ...globSync("packages/*/package.json", { cwd: root }).toSorted()];
  const own = new Set(manifests.map((file) => readJson(path.join(root, file))["name"]));
  for (const file of manifests)
    changeJson(path.join(root, file), (manifest) => withVersion(manifest, version, own));
  changeJson(path.join(root, "package-lock.json"), (lock) => {
    const packages = lock["packages"] as Readonly<Record<string, Json>>;
    const changed = Object.entries(packages).map(([place, one]) =>
      place === "" || /^packages\/[^/]+$/.test(place)
        ? [place, withVersion(one, version, own)]
        : [place, one],
    );
    return { ...lock, version, packages: Object.fromEntries(changed) as Json };
  });
  for (const file of sources)
    changeText(path.join(root, file), /^(export const (?:version|release) = ")[^"]+(";)$/gm, version);
  const hasChart = existsSync(path.join(root, chart));
  if (hasChart) changeText(path.join(root, chart), /^((?:version|appVersion): ).*()$/gm, version);
  return [...manifests, "package-lock.json", ...sources, ...(hasChart ? [chart] : [])];
}

type Json = Readonly<Record<string, unknown>>;

function withVersion(manifest: Json, version: string, own: ReadonlySet<unknown>): Json {
  const dependenciesOf = (field: string): Json => {
    const given = manifest[field] as Json | undefined;
    if (given === undefined) return {};
    const changed = Object.entries(given).map(([name, wanted]) => [name, own.has(name) ? version : wanted]);
    return { [field]: Object.fromEntries(changed) as Json };
  };
  const versionOf = manifest["version"] === undefined ? {} : { version };
  return {
    ...manifest,
    ...versionOf,
    ...dependenciesOf("dependencies"),
    ...dependenciesOf("devDependencies"),
  };
}

function readJson(file: string): Json {
  return JSON.parse(readFileSync(file, "utf8")) as Json;
}

function changeJson(file: string, change: (json: Json) => Json): void {
  writeFileSync(file, `${JSON.stringify(change(readJson(file)), null, 2)}\n`);
}

/** `pattern` finds the version between its two groups. */
function changeText(file: string, pattern: RegExp, version: string): void {
  const text = readFileSync(file, "utf8");
  if (text.search(pattern) === -1) throw new Error(`${file} does not say a version`);
  writeFileSync(
    file,
    text.replace(pattern, (_, before: string, after: string) => `${before}${version}${after}`),
  );
}
