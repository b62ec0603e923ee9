import { inOrder } from "./in-order.ts";

/**
 * Normalises a shell text: removes quotes and backslashes inside words, replaces `${IFS}` by a space, joins lines. It
 * is no shell: commands that are only known at run time are detected by {@link hidesCommand}.
 */
export function undisguise(text: string): string {
  return text
    .replaceAll(/\\\r?\n/g, "")
    .replaceAll(/\|[^\S\n]*\n\s*/g, "| ")
    .replaceAll(/\$\{?IFS\}?/g, " ")
    .replaceAll(/(?<=[\w./-])(?:''|"")|(?:''|"")(?=[\w./-])/g, "")
    .replaceAll(/\\(?=[\w./-])/g, "")
    .replaceAll(/(?<![\w])(['"])([\w./-]+)\1/g, "$2")
    .replaceAll(/(?<=[\w/])(['"])([\w./-]*)\1/g, "$2");
}

/** True when the name of a command is only known at run time. */
export function hidesCommand(text: string): boolean {
  return /(?:^|[\n;&|(])[^\S\n]*(?:sudo\s+)?(?:\$\w|\$\{|\$\(|`|eval\s)/.test(text);
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

const remover = /(?:^|\s)(?:[\w./-]*\/)?(?:rm|shred|unlink)\b/u;

/** Deletes the results of a search without showing them first. */
export function deletesFound(text: string): boolean {
  const fragments = /[\n;|]/u;
  return (
    inOrder(text, fragments, [/\bfind\s/u, /(?:^|\s)-delete\b/u]) ||
    inOrder(text, fragments, [/\bfind\s/u, /(?:^|\s)-exec(?:dir)?(?=\s)/u, remover]) ||
    inOrder(text, fragments, [/\bxargs\b/u, remover])
  );
}

const place =
  /^["']?(?:\/(?:\*|(?:bin|boot|dev|etc|home|lib|opt|root|sbin|srv|sys|usr|var)\/?\*?)?|~\/?\*?|\$\{?HOME\}?\/?\*?)[)"']*\/?$/u;

/** A recursive delete of the root, a home or everything below one of them. */
export function deletesPlaces(text: string): boolean {
  return text.split(/[\n;&|]/u).some((statement) => {
    const words = statement.trim().split(/\s+/u);
    const removed = wordsBehind(words, /(?:^|["'(/\\])rm$/u);
    const isRecursive = removed.some((word) => /^-\w*[rR]|^--recursive/u.test(word));
    const isPlace = removed.some((word) => place.test(word) || word === "--no-preserve-root");
    const found = wordsBehind(words, /(?:^|["'(/])find$/u);
    return (isRecursive && isPlace) || (place.test(found[0] ?? "") && found.includes("-delete"));
  });
}

function wordsBehind(words: readonly string[], name: RegExp): readonly string[] {
  const at = words.findIndex((word) => name.test(word));
  return at === -1 ? [] : words.slice(at + 1);
}
