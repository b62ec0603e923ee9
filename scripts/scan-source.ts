import { type Token, tokenize } from "./tokenize.ts";

/** One place where a file names another module. `url` is a file loaded by address: a worker, a child's entry, an asset. */
export type ModuleReference = {
  readonly form: "static" | "dynamic" | "url";
  readonly specifier: string;
  /** 1-based. */
  readonly line: number;
};

export type SourceScan = {
  readonly references: readonly ModuleReference[];
  /** 1-based lines that read the process's environment. */
  readonly environmentLines: readonly number[];
  /** 1-based lines that use the file's own address (`import.meta.url`, `dirname`, ...) other than to load a named file beside it. */
  readonly placeLines: readonly number[];
  /** 1-based lines with a path below `/proc` in a text. */
  readonly procLines: readonly number[];
};

/** Finds every `import`, `export ... from`, `import()`, `require()`, `new URL("./x", import.meta.url)` and environment read. */
export function scanSource(source: string): SourceScan {
  const tokens = tokenize(source);
  const references: ModuleReference[] = [];
  const environmentLines = new Set<number>();
  const placeLines = new Set<number>();
  for (const [index, token] of tokens.entries()) {
    if (token.type !== "word" || isProperty(tokens, index)) continue;
    const reference = referenceAt(tokens, index);
    if (reference !== null) references.push(reference);
    if (readsEnvironment(tokens, index)) environmentLines.add(token.line);
    if (readsPlace(tokens, index)) placeLines.add(token.line);
  }
  return {
    references,
    environmentLines: [...environmentLines],
    placeLines: [...placeLines],
    procLines: findProcLines(source),
  };
}

/** By lines and not by tokens, which leave out the texts of templates with substitutions. */
function findProcLines(source: string): number[] {
  return source.split("\n").flatMap((line, index) => {
    const isComment = /^\s*(?:\*|\/\*|\/\/)/u.test(line);
    return !isComment && /["'`\s]\/proc(?:\/|["'`])/u.test(line) ? [index + 1] : [];
  });
}

function referenceAt(tokens: readonly Token[], index: number): ModuleReference | null {
  const at = (offset: number): Token | undefined => tokens[index + offset];
  const found = (form: ModuleReference["form"], token: Token | undefined): ModuleReference | null =>
    isText(token) ? { form, specifier: token.value, line: token.line } : null;
  switch (at(0)?.value) {
    case "import":
      if (isPunctuation(at(1), "(")) return found("dynamic", at(2));
      if (matches(tokens, index + 1, [".", "meta", ".", "resolve", "("])) return found("url", at(6));
      return found("static", at(1)) ?? found("static", findFrom(tokens, index + 1));
    case "export":
      return found("static", findFrom(tokens, index + 1));
    case "require":
      return isPunctuation(at(1), "(") ? found("static", at(2)) : null;
    case "URL":
      return matches(tokens, index + 3, [",", "import", ".", "meta", "."]) ? found("url", at(2)) : null;
    default:
      return null;
  }
}

/** The specifier after an import or export clause (`type X, { a, b as c } from "..."`), undefined when there is none. */
function findFrom(tokens: readonly Token[], start: number): Token | undefined {
  for (let index = start; index < tokens.length; index += 1) {
    const token = tokens[index];
    const next = tokens[index + 1];
    if (token?.value === "from" && next?.type === "string") return next;
    const isClauseToken =
      token?.type === "word" || token?.type === "string" || "{}*,".includes(token?.value ?? ";");
    if (!isClauseToken) return undefined;
    // Two adjacent words form a clause only with these; otherwise a declaration has started.
    if (token?.type === "word" && next?.type === "word" && !isClauseWord(token) && !isClauseWord(next)) {
      return undefined;
    }
  }
  return undefined;
}

function isClauseWord(token: Token): boolean {
  return token.value === "type" || token.value === "as" || token.value === "from";
}

/** `process.env`, `process?.env`, `process["env"]`, `{ env } = process`, or `env` imported from `node:process`. */
function readsEnvironment(tokens: readonly Token[], index: number): boolean {
  const word = tokens[index]?.value;
  if (word === "process") {
    const next = tokens
      .slice(index + 1, index + 4)
      .filter((token) => !(token.type === "punctuation" && "?.[".includes(token.value)));
    if (isPunctuation(tokens[index + 1], ".", "?", "[") && next[0]?.value === "env") return true;
    return (
      isPunctuation(tokens[index - 1], "=") &&
      isPunctuation(tokens[index - 2], "}") &&
      hasEnvBefore(tokens, index - 3)
    );
  }
  if (word !== "import") return false;
  const from = findFrom(tokens, index + 1);
  if (from === undefined || !["node:process", "process"].includes(from.value)) return false;
  return tokens.slice(index, tokens.indexOf(from)).some((token) => token.value === "env");
}

/** `import.meta` outside of `new URL("./x", import.meta.url)`, `import.meta.resolve("x")` and `createRequire(import.meta.url)`. */
function readsPlace(tokens: readonly Token[], index: number): boolean {
  if (!matches(tokens, index, ["import", ".", "meta"])) return false;
  if (matches(tokens, index + 3, [".", "resolve", "("])) return !isText(tokens[index + 6]);
  if (!matches(tokens, index + 3, [".", "url"])) return true;
  if (matches(tokens, index - 2, ["createRequire", "("])) return false;
  return !(matches(tokens, index - 4, ["URL", "("]) && isText(tokens[index - 2]));
}

function hasEnvBefore(tokens: readonly Token[], index: number): boolean {
  for (let at = index; at >= 0 && !isPunctuation(tokens[at], "{"); at -= 1) {
    if (tokens[at]?.value === "env") return true;
  }
  return false;
}

/** Whether the word is a property `x.word` or a key `word:`, not a keyword or global. `globalThis.process` is the global. */
function isProperty(tokens: readonly Token[], index: number): boolean {
  const isAfterDot = isPunctuation(tokens[index - 1], ".") && tokens[index - 2]?.value !== "globalThis";
  // A spread (`...process.env`) is not a property access.
  const isSpread = isAfterDot && isPunctuation(tokens[index - 2], ".");
  return (isAfterDot && !isSpread) || isPunctuation(tokens[index + 1], ":");
}

function matches(tokens: readonly Token[], start: number, values: readonly string[]): boolean {
  return values.every((value, offset) => tokens[start + offset]?.value === value);
}

function isPunctuation(token: Token | undefined, ...values: readonly string[]): boolean {
  return token?.type === "punctuation" && values.includes(token.value);
}

function isText(token: Token | undefined): token is Token {
  return token?.type === "string" || token?.type === "template";
}
