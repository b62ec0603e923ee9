/**
 * Patterns of what is left out, as people write them for git: a name is meant wherever it is, a path with a slash from the folder on. `*`
 * stands for anything but a slash, `**` for folders too. What is below a folder that is left out is left out with it.
 */

/** Folders between two names of a pattern: tar has no sign for any number of them. */
const maxFolders = 12;

/** As `tar` takes them, which is given `.`; its flags hold for what follows them. */
export function toTarExcludes(patterns: readonly string[]): string[] {
  return patterns.flatMap((given) => {
    const pattern = withoutEnds(given);
    // A name, or the end of a path, wherever it is.
    const isAnywhere = isName(given) || pattern.startsWith("**/");
    const rest = pattern.replace(/^(?:\*\*\/)+/, "");
    if (rest === "") return [];
    const flags = [isAnywhere ? "--no-anchored" : "--anchored", "--no-wildcards-match-slash"];
    return [...flags, ...written(rest).map((one) => `--exclude=${isAnywhere ? "" : "./"}${one}`)];
  });
}

/** Without `**` but at the end, where it is all that is in a folder. */
function written(pattern: string): string[] {
  const [before = "", after] = pattern.split("/**/", 2);
  if (after === undefined) return [pattern.replace(/\/\*\*$/, "/*")];
  const whole = pattern.slice(before.length + "/**/".length);
  const folders = Array.from({ length: maxFolders + 1 }, (_, count) => "*/".repeat(count));
  // One such sign in a pattern; a second one stands for one folder.
  return folders.map((between) => `${before}/${between}${whole.replaceAll("**", "*")}`);
}

/** As pathspecs of git, relative to the folder. */
export function toPathspecs(patterns: readonly string[]): string[] {
  return patterns.flatMap((given) => {
    const pattern = withoutEnds(given);
    if (pattern === "") return [];
    const from = isName(given) ? `**/${pattern}` : pattern;
    return [`:(exclude,glob)${from}`, `:(exclude,glob)${from}/**`];
  });
}

/** Without a slash but at its end. */
function isName(pattern: string): boolean {
  return !pattern.replace(/\/+$/, "").includes("/");
}

function withoutEnds(pattern: string): string {
  return pattern.replace(/^(?:\.?\/)+/, "").replace(/\/+$/, "");
}
