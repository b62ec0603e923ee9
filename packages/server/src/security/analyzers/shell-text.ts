/**
 * A shell text with its disguises taken off: quotes and backslashes inside words, `${IFS}` as a space, joined lines. Not a
 * shell: what would only be known when it runs is told by {@link hidesCommand}.
 */
export function undisguise(text: string): string {
  return text
    .replaceAll(/\\\r?\n/g, "")
    .replaceAll(/\$\{?IFS\}?/g, " ")
    .replaceAll(/(?<=[\w./-])(?:''|"")|(?:''|"")(?=[\w./-])/g, "")
    .replaceAll(/\\(?=[\w./-])/g, "")
    .replaceAll(/(?<![\w])(['"])([\w./-]+)\1/g, "$2")
    .replaceAll(/(?<=[\w/])(['"])([\w./-]*)\1/g, "$2");
}

/** True when what a command is called is decided only when it runs. */
export function hidesCommand(text: string): boolean {
  return /(?:^|[\n;&|(])[^\S\n]*(?:sudo\s+)?(?:\$\w|\$\{|\$\(|`)/.test(text);
}

/** `rm` with both a recursive and a force flag, in any order and spelling. */
export function deletesByForce(text: string): boolean {
  for (const [, flags = ""] of text.matchAll(/\brm((?:\s+-{1,2}[\w-]+)+)/g)) {
    const isRecursive = /(?:^|\s)-\w*[rR]|--recursive/.test(flags);
    const isForced = /(?:^|\s)-\w*f|--force/.test(flags);
    if (isRecursive && isForced) return true;
  }
  return false;
}

/** A recursive delete of the root, a home or everything below one of them. */
export function deletesPlaces(text: string): boolean {
  const place = String.raw`(?:\/(?:\*|(?:bin|boot|dev|etc|home|lib|opt|root|sbin|srv|sys|usr|var)\/?\*?)?|~\/?\*?|\$\{?HOME\}?\/?\*?)`;
  const first = text.search(/\brm\s/);
  const removed = first === -1 ? "" : text.slice(first + 2);
  const named = new RegExp(String.raw`(?<=\s)${place}(?:\s|$|[;&|])`);
  const isRecursive = text.split(/[;&|\n]/).some((clause) => {
    const from = clause.search(/\brm\b/);
    return from !== -1 && /\s-{1,2}\w*[rR]/.test(clause.slice(from));
  });
  const find = new RegExp(String.raw`\bfind\s+${place}\s[^;\n]*-delete\b`);
  return (isRecursive && (named.test(removed) || text.includes("--no-preserve-root"))) || find.test(text);
}
