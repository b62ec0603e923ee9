import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly repository?: string | { readonly url?: string };
};

/**
 * Names and licence texts of the npm packages that the files (absolute paths) belong to. Throws for a package that has no licence
 * text and names no licence: it may not be distributed. For a package without a text, and for one under the Mozilla Public License
 * (3.2 of it), it says where the source is.
 */
export function thirdPartyNotices(files: readonly string[]): string {
  const directories = new Set(files.flatMap((file) => packageDirectory(file) ?? []));
  const notices = [...directories].map(notice);
  // A package may be installed twice in the same version.
  return [...new Set(notices)].toSorted().join(`\n${"-".repeat(80)}\n\n`);
}

function packageDirectory(file: string): string | null {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? null;
}

function notice(directory: string): string {
  const manifest = JSON.parse(readFileSync(path.join(directory, "package.json"), "utf8")) as Manifest;
  const { name, version, license } = manifest;
  const texts = readdirSync(directory)
    .filter((file) => /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i.test(file))
    .toSorted()
    .map((file) => readFileSync(path.join(directory, file), "utf8").trim());
  if (texts.length === 0 && license === undefined) throw new Error(`${name} ${version} states no licence`);
  const source = license?.includes("MPL") === true ? [sourceOf(manifest)] : [];
  const place =
    texts.length === 0 ? [`The package has no licence text. It is of ${addressOf(manifest)}.`] : [];
  return [`${name} ${version} (${license ?? "see below"})`, ...source, ...texts, ...place, ""].join("\n\n");
}

function sourceOf(manifest: Manifest): string {
  return `The files of this package are used as they are, under the Mozilla Public License 2.0. Their source is the npm package ${manifest.name}@${manifest.version}, and ${addressOf(manifest)}.`;
}

function addressOf({ name, version, repository }: Manifest): string {
  const given = typeof repository === "string" ? repository : repository?.url;
  if (given === undefined) throw new Error(`${name} ${version} does not say where its source is`);
  return given.replace(/^git\+/, "").replace(/\.git$/, "");
}
