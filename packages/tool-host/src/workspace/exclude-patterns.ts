/**
 * Patterns of what is left out, as people write them for git: a name is meant wherever it is, a path with a slash from the folder on. `*`
 * stands for anything but a slash, `**` for folders too. What is below a folder that is left out is left out with it.
 */

/** As `tar` takes them, which is given `.`; its flags hold for what follows them. */
export function toTarExcludes(patterns: readonly string[]): string[] {
  return patterns.flatMap((given) => {
    const pattern = withoutEnds(given);
    const name = pattern.replace(/^(?:\*\*\/)+/, "");
    if (name === "") return [];
    if (!name.includes("/")) return ["--no-anchored", "--no-wildcards-match-slash", `--exclude=${name}`];
    if (!pattern.includes("**"))
      return ["--anchored", "--no-wildcards-match-slash", `--exclude=./${pattern}`];
    // No folder between the two, or any number of them.
    const either = [pattern.replaceAll(/(^|\/)\*\*\//g, "$1"), pattern.replaceAll("**", "*")];
    return ["--anchored", "--wildcards-match-slash", ...either.map((one) => `--exclude=./${one}`)];
  });
}

/** As pathspecs of git, relative to the folder. */
export function toPathspecs(patterns: readonly string[]): string[] {
  return patterns.flatMap((given) => {
    const pattern = withoutEnds(given);
    if (pattern === "") return [];
    const from = pattern.includes("/") ? pattern : `**/${pattern}`;
    return [`:(exclude,glob)${from}`, `:(exclude,glob)${from}/**`];
  });
}

function withoutEnds(pattern: string): string {
  return pattern.replace(/^(?:\.?\/)+/, "").replace(/\/+$/, "");
}
