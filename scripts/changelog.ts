/** What stands below "Unreleased" in a changelog, without its heading. */
export function unreleasedPart(changelog: string): string {
  const [, part] = /^## Unreleased\n(.*?)(?=^## |(?![\s\S]))/ms.exec(changelog) ?? [];
  if (part === undefined) throw new Error('CHANGELOG.md has no heading "## Unreleased"');
  return part.trim();
}

/**
 * The changelog of a release: what was unreleased stands below its version and day (`2026-11-28`), and the part for what comes next is
 * empty. Throws when nothing was unreleased, or the version is there already.
 */
export function releaseChangelog(changelog: string, version: string, day: string): string {
  const part = unreleasedPart(changelog);
  if (!/^[-*] /m.test(part))
    throw new Error('CHANGELOG.md has nothing below "## Unreleased": say what users will notice');
  if (changelog.includes(`\n## ${version}`))
    throw new Error(`CHANGELOG.md has a part for ${version} already`);
  return changelog
    .replace("\n## Unreleased\n", `\n## Unreleased\n\n## ${version} - ${day}\n`)
    .replace(/ Nothing has been released yet: all of this will be [\d.]+\./, "");
}
