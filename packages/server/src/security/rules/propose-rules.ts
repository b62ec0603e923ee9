import { posix } from "node:path";
import { maxPatternWords, type Rule } from "@convoke/protocol";
import { ruleProblem } from "./check-rules.ts";
import { restElement } from "./match-command.ts";
import { hostsOf } from "./match-host.ts";
import { pathsOf } from "./match-path.ts";
import { readCommand } from "./read-command.ts";
import type { RuledCall } from "./rule.ts";
import { shellCallOf, shellTool } from "./shell-call.ts";
import type { ShellWord } from "./wrappers.ts";

const maxProposed = 5;

/** Programs whose first argument can be a program of its own: only the exact words are proposed. */
const interpreters =
  /^(?:sh|bash|dash|zsh|ksh|ash|fish|python[\d.]*|node|deno|bun|perl|ruby|php|lua|awk|gawk|mawk|sudo|doas|su|ssh|docker|kubectl|podman|npx|uvx|pipx|tsx|xargs|find|watch|parallel|flock)$/u;

/**
 * Options that may stand before the first argument of a program, without and with a value, and do not change what it runs. Others,
 * such as `git -c`, may.
 */
const optionsBefore: Readonly<
  Record<string, { readonly flags: readonly string[]; readonly valued: readonly string[] }>
> = {
  git: {
    flags: ["--no-pager", "-P", "--bare", "--literal-pathspecs"],
    valued: ["-C", "--git-dir", "--work-tree"],
  },
  npm: { flags: ["--silent", "-s"], valued: ["--prefix", "-C", "--workspace", "-w"] },
  pnpm: { flags: ["--silent", "-s"], valued: ["--dir", "-C", "--filter", "-F"] },
  yarn: { flags: ["--silent", "-s"], valued: ["--cwd"] },
};

/**
 * The narrowest rules that would allow a call like this one: of a command, for each part the program and its first
 * argument, and any further words; behind an option that may take the next word only the same words; each host that it names.
 * Empty when no rule can, as for a text that cannot be read.
 */
export function proposeRules({ toolName, action, risk, places }: RuledCall): Rule[] {
  const risky = risk === "HIGH" ? { up_to: "HIGH" as const } : {};
  const shell = shellCallOf(toolName, action);
  if (shell === null) {
    const hosts = hostsOf(action).map((host): Rule => ({ effect: "allow", tool: toolName, host, ...risky }));
    if (hosts.length > 0) return hosts.every((rule) => ruleProblem(rule) === null) ? hosts : [];
    const paths = pathsOf(action, places).map((path) => shownPath(path, places.workingDir));
    const rules = paths.map((path): Rule => ({ effect: "allow", tool: toolName, path, ...risky }));
    if (rules.length > 1 || paths.some((path) => /[*?]/u.test(path))) return [];
    return rules.length === 0 ? [{ effect: "allow", tool: toolName, ...risky }] : rules;
  }
  if (shell.isInput) return [];
  const reading = readCommand(shell.command, places.workingDir);
  if (reading.opaque.length > 0 || reading.parts.some(({ opaque }) => opaque !== null)) return [];
  const patterns = reading.parts
    .filter(({ isPlainWrapper }) => !isPlainWrapper)
    .map(({ words }) => patternOf(words));
  const rules = patterns.map((command): Rule => ({
    effect: "allow",
    tool: shellTool,
    command: command ?? [],
    ...risky,
  }));
  const distinct = [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
  const areSound = distinct.every((rule) => rule.command!.length > 0 && ruleProblem(rule) === null);
  return areSound && distinct.length <= maxProposed ? distinct : [];
}

/** Null when the words cannot be written as a pattern. */
function patternOf(words: readonly ShellWord[]): string[] | null {
  const [program, first] = words;
  if (typeof program !== "string" || !isWritable(program)) return null;
  if (interpreters.test(posix.basename(program))) return exactly(words);
  if (words.length === 1) return [program];
  if (first?.startsWith("-") === true) return behindOptions(program, words) ?? exactly(words);
  return typeof first === "string" && isWritable(first)
    ? [program, first, restElement]
    : [program, restElement];
}

/** Up to the first argument behind options whose values are known; null where it is not known which word that is. */
function behindOptions(program: string, words: readonly ShellWord[]): string[] | null {
  const known = Object.hasOwn(optionsBefore, program) ? optionsBefore[program]! : null;
  if (known === null) return null;
  let at = 1;
  while (words[at]?.startsWith("-") === true) {
    const option = words[at]!;
    if (known.valued.includes(option)) at += 2;
    else if (known.flags.includes(option) || known.valued.some((name) => option.startsWith(`${name}=`)))
      at += 1;
    else return null;
  }
  const begin = at < words.length ? exactly(words.slice(0, at + 1)) : null;
  return begin === null ? null : [...begin, restElement];
}

/** These words and no others; null unless all are known. */
function exactly(words: readonly ShellWord[]): string[] | null {
  const areKnown =
    words.length <= maxPatternWords && words.every((word) => word !== null && isWritable(word));
  return areKnown ? [...(words as readonly string[])] : null;
}

/** In a pattern these have a meaning of their own. */
function isWritable(word: string): boolean {
  return word !== "" && word.length <= 500 && word !== "*" && word !== restElement && !word.includes("|");
}

function shownPath(path: string, workingDir: string): string {
  if (!path.startsWith("/")) return path;
  const below = posix.relative(workingDir, path);
  return below === "" || below.startsWith("..") ? path : below;
}
