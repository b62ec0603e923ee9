import { quoteWord } from "../lib/quote-word.ts";
import { isAddedField } from "./added-fields.ts";

/** Other names that models use for tools they were trained on. */
const aliases: Readonly<Record<string, string>> = {
  bash: "terminal",
  command: "terminal",
  execute: "terminal",
  execute_bash: "terminal",
  git: "terminal",
  reset: "terminal",
  str_replace: "file_editor",
  str_replace_editor: "file_editor",
};

const shellWords = new Set(["find", "git", "ls", "pwd"]);

export type NamedCall = { readonly name: string; readonly values: Record<string, unknown> };

/** Maps a call to a registered tool where the intent is plain; a registered name is never changed. Null when nothing fits. */
export function resolveToolName(
  requested: string,
  values: Readonly<Record<string, unknown>>,
  registered: Iterable<string>,
): NamedCall | null {
  const names = new Set(registered);
  const isRegistered = (name: string): boolean => names.has(name);
  const name = withoutNamespace(requested);
  const found = firstOf([requested, name]);
  if (found !== null) return found;
  const fitting = [...names].filter((one) => plainName(one) === plainName(requested));
  if (fitting.length > 0) return fitting.length === 1 ? { name: fitting[0]!, values: { ...values } } : null;
  const snake = name
    .replaceAll(/([a-z0-9])([A-Z])/gu, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();
  return firstOf([snake, snake.replace(/_tool$/u, "")]);

  function firstOf(spellings: readonly string[]): NamedCall | null {
    for (const spelling of spellings) {
      const named = resolveSpelling(spelling, values, isRegistered);
      if (named !== null) return named;
    }
    return null;
  }
}

/** Some models put one before the name, and a number behind it: `functions.terminal:0`. */
function withoutNamespace(requested: string): string {
  const segments = requested.trim().split(/[.:/]+/u);
  return segments.findLast((segment) => segment !== "" && !/^\d+$/u.test(segment)) ?? requested;
}

/** What two spellings of one name have in common. */
function plainName(name: string): string {
  return withoutNamespace(name)
    .replaceAll(/[^\p{L}\p{N}]/gu, "")
    .toLowerCase()
    .replace(/(?<=.)tool$/u, "");
}

function resolveSpelling(
  requested: string,
  values: Readonly<Record<string, unknown>>,
  isRegistered: (name: string) => boolean,
): NamedCall | null {
  if (isRegistered(requested)) return { name: requested, values: { ...values } };
  const leading = /^[A-Za-z_][A-Za-z0-9_]*/.exec(requested)?.[0] ?? "";
  if (leading !== "" && isRegistered(leading)) return { name: leading, values: { ...values } };
  const target = Object.hasOwn(aliases, leading) ? aliases[leading]! : null;
  if (target !== null && isRegistered(target)) {
    const isPrefixed = leading === "git" || leading === "reset";
    if (isPrefixed && typeof values["command"] === "string") {
      return {
        name: target,
        values: { ...nonNull(values), command: withPrefix(leading, values["command"]) },
      };
    }
    if (!isPrefixed) return { name: target, values: { ...values } };
  }
  if (!isRegistered("terminal")) return null;
  if (leading === "grep" && typeof values["pattern"] === "string" && values["pattern"].trim() !== "") {
    return { name: "terminal", values: { ...nonNull(values), command: grepCommand(values) } };
  }
  const hasArguments = Object.keys(values).some((key) => !isAddedField(key));
  return shellWords.has(leading) && !hasArguments
    ? { name: "terminal", values: { ...nonNull(values), command: leading } }
    : null;
}

/** The command that a file_editor call without one can only have meant. */
export function inferEditorCommand(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if ("command" in values) return { ...values };
  const command =
    "old_str" in values
      ? "str_replace"
      : "insert_line" in values
        ? "insert"
        : "file_text" in values
          ? "create"
          : "path" in values
            ? "view"
            : null;
  return command === null ? { ...values } : { command, ...values };
}

function nonNull(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([key]) => isAddedField(key)));
}

function withPrefix(word: string, command: string): string {
  return command.trim().split(/\s+/)[0] === word ? command : `${word} ${command}`;
}

function grepCommand(values: Readonly<Record<string, unknown>>): string {
  const path = typeof values["path"] === "string" ? values["path"] : ".";
  const include = typeof values["include"] === "string" ? ` --include=${quoteWord(values["include"])}` : "";
  return `grep -rniE${include} -e ${quoteWord(values["pattern"] as string)} -- ${quoteWord(path)}`;
}
