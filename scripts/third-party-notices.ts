import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";

type Manifest = { readonly name: string; readonly version: string; readonly license?: string };

/**
 * Names and licence texts of the npm packages that the files (absolute paths) belong to. Throws for a package that has
 * neither a licence text nor names a licence: it must not be given away.
 */
export function thirdPartyNotices(files: readonly string[]): string {
  const directories = new Set(files.flatMap((file) => packageDirectory(file) ?? []));
  const notices = [...directories].map(notice);
  // One package may be installed twice in the same version.
  return [...new Set(notices)].toSorted().join(`\n${"-".repeat(80)}\n\n`);
}

function packageDirectory(file: string): string | null {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? null;
}

function notice(directory: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(path.join(directory, "package.json"), "utf8"),
  ) as Manifest;
  const texts = readdirSync(directory)
    .filter((file) => /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i.test(file))
    .toSorted()
    .map((file) => readFileSync(path.join(directory, file), "utf8").trim());
  if (texts.length === 0 && license === undefined) throw new Error(`${name} ${version} states no licence`);
  return [`${name} ${version} (${license ?? "see below"})`, ...texts, ""].join("\n\n");
}
