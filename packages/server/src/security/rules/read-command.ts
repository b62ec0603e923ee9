import { posix } from "node:path";
import { forEachChild, parse, type Command, type ParsedScript, type SyntaxNode } from "unbash";
import { describeError } from "../../lib/describe-error.ts";
import { literalOf, wordProblem } from "./shell-words.ts";
import { assignmentProblem, builtinProblem } from "./shell-variables.ts";
import { unwrap, type ShellWord, type Started } from "./wrappers.ts";

/** One simple command of a shell text. */
export type CommandPart = {
  /** Null: only known when it runs. */
  readonly words: readonly ShellWord[];
  /** The programs that start it, outermost first. */
  readonly inside: readonly string[];
  /** True when it only starts other parts, so that an `allow` need not name it. */
  readonly isPlainWrapper: boolean;
  /** Why no `allow` can cover it; null if one can. */
  readonly opaque: string | null;
};

export type CommandReading = {
  readonly parts: readonly CommandPart[];
  /** Why no `allow` can cover the whole text; empty if one can. */
  readonly opaque: readonly string[];
};

/** Longer texts are not read: they are opaque. */
const maxCharacters = 30_000;
const maxParts = 1_000;
const maxDepth = 8;
/** Brackets inside of brackets; the parser's time grows with the square. */
const maxBrackets = 100;

/** Characters that look like a blank, or like nothing, and are none for the shell; the terminal drops NUL. */
const misleading = /(?![ \t\n])[\p{Cc}\p{Cf}\p{DI}\p{Z}]/u;

/**
 * Every simple command of a text for bash, also those that wrappers, substitutions and nested shells run. What may run
 * something that is not in the list makes a part or the whole text opaque.
 */
export function readCommand(text: string, workingDir: string): CommandReading {
  const reader = new CommandReader(workingDir);
  if (text.length > maxCharacters) reader.refuse("it is too long to be read");
  else if (misleading.test(text)) reader.refuse("it has characters that cannot be seen");
  else if (bracketDepth(text) > maxBrackets) reader.refuse("it is nested too deeply to be read");
  else reader.readText(text, [], 0);
  return reader.reading;
}

function bracketDepth(text: string): number {
  let [depth, deepest] = [0, 0];
  for (const letter of text) {
    if (letter === "(") depth += 1;
    else if (letter === ")") depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Where a node stands: the text that its positions count in, and the programs that start it. */
type Place = { readonly text: string; readonly inside: readonly string[]; readonly depth: number };

/** What may stand between two words of a command. */
const gap = /^(?:[ \t]|\\\n)*$/u;

class CommandReader {
  readonly #workingDir: string;
  readonly #parts: CommandPart[] = [];
  readonly #problems = new Set<string>();
  #changesFolder = false;
  #hasRelativeFile = false;

  constructor(workingDir: string) {
    this.#workingDir = workingDir;
  }

  get reading(): CommandReading {
    if (this.#changesFolder && this.#hasRelativeFile)
      this.refuse("it changes the folder and redirects to a relative path");
    return { parts: this.#parts, opaque: [...this.#problems] };
  }

  refuse(problem: string): void {
    if (this.#problems.size < 20) this.#problems.add(problem.slice(0, 300));
  }

  readText(text: string, inside: readonly string[], depth: number): void {
    if (depth > maxDepth) return this.refuse("it is nested too deeply to be read");
    try {
      this.#visit(parse(text), { text, inside, depth });
    } catch (error) {
      // A parser that gives up leaves a text that nobody has read.
      this.refuse(`it could not be read: ${describeError(error)}`);
    }
  }

  #visit(node: SyntaxNode, given: Place): void {
    let place = given;
    if (node.type === "Script") {
      this.#checkScript(node);
      // Inside of backticks positions count in the text without its backslashes.
      if (node.source !== undefined) place = { ...given, text: node.source };
    }
    const problem = wordProblem(node);
    if (problem !== null) this.refuse(problem);
    switch (node.type) {
      case "Command":
        this.#readSimple(node, place);
        break;
      case "Function":
        this.refuse(`it defines the function ${node.name.text}`);
        break;
      case "For":
      case "Select":
        this.#checkVariable(node.name.value, false);
        break;
      case "Redirect":
        this.#checkFile(node.operator, node.target === undefined ? null : literalOf(node.target));
        break;
    }
    forEachChild(node, (child) => this.#visit(child, place));
  }

  #checkScript({ errors }: ParsedScript): void {
    for (const { message } of errors ?? []) this.refuse(`it is no valid text for bash: ${message}`);
  }

  #readSimple({ name, prefix, args, suffix }: Command, { text, inside, depth }: Place): void {
    for (const item of prefix)
      if (item.type === "Assignment") this.#checkVariable(item.name, name !== undefined);
    if (name === undefined) return;
    for (const item of args) if (item.type === "Assignment") this.#checkVariable(item.name, true);
    // The parser passes over some characters that bash refuses, as in `a (b`.
    const items = [...prefix, name, ...suffix];
    const areClose = items.every(({ end }, index) => gap.test(text.slice(end, items[index + 1]?.pos ?? end)));
    if (!areClose || /^(?:[ \t]|\\\n)*\(/u.test(text.slice(name.end)))
      this.refuse("it is no valid text for bash");
    const words = [name, ...args].map((item) => {
      if (item.type === "Word") return literalOf(item);
      const value = item.value.type === "Word" ? literalOf(item.value) : null;
      return value === null ? null : `${item.name}=${value}`;
    });
    this.#add(words, inside, depth);
  }

  #add(words: readonly ShellWord[], inside: readonly string[], depth: number): void {
    if (this.#parts.length >= maxParts) return this.refuse("it has too many commands");
    const [program, ...rest] = words;
    if (typeof program !== "string" || program === "") {
      const opaque = "which program it runs is only known when it runs";
      this.#parts.push({ words, inside, isPlainWrapper: false, opaque });
      return;
    }
    if (["cd", "pushd", "popd"].includes(program)) this.#changesFolder = true;
    const unwrapped = unwrap(words);
    this.#parts.push({
      words,
      inside,
      isPlainWrapper: unwrapped?.isPlain === true,
      opaque: builtinProblem(program, rest),
    });
    for (const started of unwrapped?.started ?? []) this.#follow(started, [...inside, program], depth + 1);
  }

  #follow(started: Started, inside: readonly string[], depth: number): void {
    if (depth > maxDepth) return this.refuse("it is nested too deeply to be read");
    if ("problem" in started) this.refuse(started.problem);
    else if ("text" in started) this.readText(started.text, inside, depth);
    else this.#add(started.words, inside, depth);
  }

  #checkVariable(name: string, isExported: boolean): void {
    const problem = assignmentProblem(name, isExported);
    if (problem !== null) this.refuse(problem);
  }

  /** Descriptors and the usual devices are no files. */
  #checkFile(operator: string, target: string | null): void {
    if (target === null) return this.refuse("which file it redirects to is only known when it runs");
    if ((operator === ">&" || operator === "<&") && /^(?:\d+-?|-)$/u.test(target)) return;
    if (/^\/dev\/(?:null|stdin|stdout|stderr)$/u.test(target)) return;
    if (!target.startsWith("/")) this.#hasRelativeFile = true;
    const path = posix.resolve(this.#workingDir, target);
    const below = posix.relative(this.#workingDir, path);
    if (below === "" || below.startsWith("..") || target.startsWith("~"))
      return this.refuse("it redirects to a file outside of the working folder");
    if (/(?:^|\/)\.(?:git|convoke)(?:\/|$)/u.test(below)) this.refuse(`it redirects to a file in ${below}`);
  }
}
