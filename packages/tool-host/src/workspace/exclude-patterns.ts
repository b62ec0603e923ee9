/**
 * Patterns of excluded files, as in .gitignore: a name matches everywhere, a path with a slash relative to the folder. `*` matches
 * anything but a slash, `**` also folders. The content of an excluded folder is excluded too.
 */

/** Maximum depth of `**` between two names: tar has no wildcard for any number of folders. */
const maxFolders = 12;

/** As arguments for `tar`, which archives `.`; the flags apply to what follows them. */
export function toTarExcludes(patterns: readonly string[]): string[] {
  return patterns.flatMap((given) => {
    const pattern = withoutEnds(given);
    // A name, or the end of a path, anywhere.
    const isAnywhere = isName(given) || pattern.startsWith("**/");
    const rest = pattern.replace(/^(?:\*\*\/)+/, "");
    if (rest === "") return [];
    const flags = [isAnywhere ? "--no-anchored" : "--anchored", "--no-wildcards-match-slash"];
    return [...flags, ...written(rest).map((one) => `--exclude=${isAnywhere ? "" : "./"}${one}`)];
  });
}

/** Without `**` except at the end, where it means everything in a folder. */
function written(pattern: string): string[] {
  const [before = "", after] = pattern.split("/**/", 2);
  if (after === undefined) return [pattern.replace(/\/\*\*$/, "/*")];
  const whole = pattern.slice(before.length + "/**/".length);
  const folders = Array.from({ length: maxFolders + 1 }, (_, count) => "*/".repeat(count));
  // The first `**` of a pattern is expanded; a second one matches one folder.
  return folders.map((between) => `${before}/${between}${whole.replaceAll("**", "*")}`);
}

/** As git pathspecs, relative to the folder. */
export function toPathspecs(patterns: readonly string[]): string[] {
  return patterns.flatMap((given) => {
    const pattern = withoutEnds(given);
    if (pattern === "") return [];
    const from = isName(given) ? `**/${pattern}` : pattern;
    return [`:(exclude,glob)${from}`, `:(exclude,glob)${from}/**`];
  });
}

/** Without a slash except at its end. */
function isName(pattern: string): boolean {
  return !pattern.replace(/\/+$/, "").includes("/");
}

function withoutEnds(pattern: string): string {
  return pattern.replace(/^(?:\.?\/)+/, "").replace(/\/+$/, "");
}
