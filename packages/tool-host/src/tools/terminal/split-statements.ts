/**
 * Splits a bash script at the newlines that end a top-level statement; comments and blank lines stay with the statement before them.
 * A script that is not certain to have several statements is returned as one.
 */
export function splitStatements(script: string): string[] {
  const scan = new StatementScan(script);
  const ends = scan.run();
  const whole = script.trim();
  if (ends === undefined) return whole === "" ? [] : [whole];
  const statements: string[] = [];
  let start = 0;
  for (const end of [...ends, script.length]) {
    const text = script.slice(start, end).trim();
    start = end;
    if (text === "") continue;
    const last = statements.at(-1);
    if (isOnlyComments(text) && last !== undefined) statements[statements.length - 1] = `${last}\n${text}`;
    else if (last !== undefined && isOnlyComments(last))
      statements[statements.length - 1] = `${last}\n${text}`;
    else statements.push(text);
  }
  return statements;
}

const openers = new Map([
  ["if", "fi"],
  ["case", "esac"],
  ["for", "done"],
  ["while", "done"],
  ["until", "done"],
  ["select", "done"],
  ["{", "}"],
  ["[[", "]]"],
]);

/** Words after which a command begins, so that a reserved word is recognised there. */
const continuers = new Set([
  "then",
  "else",
  "elif",
  "do",
  "!",
  "time",
  "coproc",
  "{",
  "if",
  "while",
  "until",
]);

type Heredoc = { readonly end: string; readonly stripsTabs: boolean };

class StatementScan {
  readonly #script: string;
  #at = 0;
  /** Constructs still to be closed, innermost last. */
  readonly #open: string[] = [];
  #heredocs: Heredoc[] = [];
  /** True when the next word would be the name of a command. */
  #isCommandStart = true;
  /** True when the line so far ends in an operator that needs an operand (`&&`, `|`, ...), or is empty. */
  #wantsMore = true;

  constructor(script: string) {
    this.#script = script;
  }

  /** Positions after the newlines that end a statement; undefined when the script cannot be parsed with certainty. */
  run(): number[] | undefined {
    const ends: number[] = [];
    while (this.#at < this.#script.length) {
      if (this.#script.charAt(this.#at) === "\n") {
        this.#at += 1;
        if (!this.#skipHeredocs()) return undefined;
        if (this.#open.length === 0 && !this.#wantsMore) ends.push(this.#at);
        this.#isCommandStart = true;
      } else if (!this.#step()) {
        return undefined;
      }
    }
    return this.#open.length === 0 && this.#heredocs.length === 0 ? ends : undefined;
  }

  #step(): boolean {
    const character = this.#script.charAt(this.#at);
    const two = this.#script.slice(this.#at, this.#at + 2);
    if (character === " " || character === "\t" || character === "\r") return this.#skip(1);
    if (two === "\\\n") return this.#skip(2);
    if (character === "#") return this.#skipComment();
    if (this.#open.at(-1) === "))") return this.#arithmetic();
    if (this.#script.startsWith("<<<", this.#at)) return this.#skip(3);
    if (two === "<<") return this.#heredoc();
    if (two === "<(" || two === ">(") return this.#enter(")", 2);
    if (two === "((" && this.#isCommandStart) return this.#enter("))", 2);
    if (two === "&&" || two === "||" || two === "|&") return this.#operator(2, true);
    if (two === "&>" || two === ">&" || two === "<&" || two === ">|") return this.#skip(2);
    if (two === ";;" || two === ";&") return this.#operator(2, true);
    if (character === "|") return this.#operator(1, true);
    if (character === ";" || character === "&") return this.#operator(1, false);
    if (character === "(") return this.#parenthesis();
    if (character === ")") return this.#leave(")");
    if (character === "<" || character === ">") return this.#skip(1);
    return this.#word();
  }

  #skip(count: number): true {
    this.#at += count;
    return true;
  }

  #operator(length: number, wantsMore: boolean): true {
    this.#at += length;
    this.#isCommandStart = true;
    this.#wantsMore = wantsMore;
    return true;
  }

  #enter(close: string, length: number): true {
    this.#open.push(close);
    return this.#operator(length, true);
  }

  #leave(close: string): boolean {
    if (this.#open.at(-1) !== close) {
      // In a case, a pattern ends with a parenthesis without an opening one.
      if (this.#open.at(-1) !== "esac") return false;
      return this.#operator(1, true);
    }
    this.#open.pop();
    this.#at += close.length;
    this.#isCommandStart = false;
    this.#wantsMore = false;
    return true;
  }

  /** `(` opens a subshell, an array or, as `name()`, the head of a function whose body may be on the next line. */
  #parenthesis(): boolean {
    const head = /^\([ \t]*\)/.exec(this.#script.slice(this.#at, this.#at + 40));
    if (head === null || this.#isCommandStart) return this.#enter(")", 1);
    return this.#operator(head[0].length, true);
  }

  #arithmetic(): boolean {
    if (this.#script.startsWith("))", this.#at)) return this.#leave("))");
    if (this.#script.charAt(this.#at) === "(") return this.#balanced("(", ")");
    return this.#script.charAt(this.#at) === "\n" ? this.#skip(1) : this.#word();
  }

  #skipComment(): true {
    const end = this.#script.indexOf("\n", this.#at);
    this.#at = end === -1 ? this.#script.length : end;
    return true;
  }

  #heredoc(): boolean {
    const match = /^<<(-?)[ \t]*((?:'[^']*'|"[^"]*"|\\.|[^\s;&|<>()'"\\])+)/.exec(
      this.#script.slice(this.#at),
    );
    if (match === null) return false;
    const end = (match[2] ?? "").replace(/\\(.)|['"]/g, "$1");
    this.#heredocs.push({ end, stripsTabs: match[1] === "-" });
    return this.#skip(match[0].length);
  }

  #skipHeredocs(): boolean {
    for (const heredoc of this.#heredocs) {
      let isClosed = false;
      while (!isClosed && this.#at < this.#script.length) {
        const newline = this.#script.indexOf("\n", this.#at);
        const lineEnd = newline === -1 ? this.#script.length : newline;
        const line = this.#script.slice(this.#at, lineEnd);
        this.#at = Math.min(lineEnd + 1, this.#script.length);
        isClosed = (heredoc.stripsTabs ? line.replace(/^\t+/, "") : line) === heredoc.end;
      }
      if (!isClosed) return false;
    }
    this.#heredocs = [];
    return true;
  }

  #word(): boolean {
    const start = this.#at;
    while (this.#at < this.#script.length && !/[\s;&|<>()]/.test(this.#script.charAt(this.#at))) {
      if (!this.#wordPart()) return false;
    }
    const word = this.#script.slice(start, this.#at);
    if (word === "") return false;
    this.#wantsMore = false;
    if (/^\w+\+?=$/.test(word) && this.#script.charAt(this.#at) === "(") return this.#balanced("(", ")");
    if (/[?*+@!]$/.test(word) && this.#script.charAt(this.#at) === "(") return this.#balanced("(", ")");
    this.#reserved(word);
    return true;
  }

  #reserved(word: string): void {
    const close = this.#open.at(-1);
    if (word === close && (this.#isCommandStart || close === "]]")) {
      this.#open.pop();
      this.#isCommandStart = false;
      return;
    }
    if (close === "]]") return;
    if (word === "in" && close === "esac") this.#wantsMore = true;
    const wasCommandStart = this.#isCommandStart;
    this.#isCommandStart = false;
    if (!wasCommandStart) return;
    const opened = openers.get(word);
    if (opened !== undefined) this.#open.push(opened);
    if (opened !== undefined || continuers.has(word)) this.#wantsMore = true;
    if (continuers.has(word)) this.#isCommandStart = true;
    // The name of a function: its body may follow on the next line.
    if (word === "function") this.#functionHead();
  }

  #functionHead(): void {
    const head = /^[ \t]+[^\s;&|<>()]+[ \t]*(?:\([ \t]*\))?/.exec(this.#script.slice(this.#at));
    this.#at += head?.[0].length ?? 0;
    this.#isCommandStart = true;
    this.#wantsMore = true;
  }

  #wordPart(): boolean {
    const rest = this.#script.slice(this.#at, this.#at + 3);
    if (rest.startsWith("\\")) return this.#skip(2);
    if (rest.startsWith("'")) return this.#quoted("'", false);
    if (rest.startsWith("$'")) return this.#skip(1) && this.#quoted("'", true);
    if (rest.startsWith('"') || rest.startsWith('$"'))
      return this.#doubleQuoted(rest.startsWith("$") ? 2 : 1);
    if (rest.startsWith("`")) return this.#quoted("`", true);
    if (rest.startsWith("$(")) return this.#skip(1) && this.#balanced("(", ")");
    if (rest.startsWith("${")) return this.#skip(1) && this.#balanced("{", "}");
    return this.#skip(1);
  }

  #quoted(quote: string, hasEscapes: boolean): boolean {
    this.#at += 1;
    while (this.#at < this.#script.length) {
      const character = this.#script.charAt(this.#at);
      this.#at += hasEscapes && character === "\\" ? 2 : 1;
      if (character === quote) return true;
    }
    return false;
  }

  #doubleQuoted(length: number): boolean {
    this.#at += length;
    while (this.#at < this.#script.length) {
      if (this.#script.charAt(this.#at) === '"') return this.#skip(1);
      if (this.#script.charAt(this.#at) === "'") this.#at += 1;
      else if (!this.#wordPart()) return false;
    }
    return false;
  }

  /** Skips from an opening bracket to its partner. A script inside may have brackets in comments or heredocs; then the result is uncertain. */
  #balanced(open: string, close: string): boolean {
    let depth = 0;
    while (this.#at < this.#script.length) {
      const character = this.#script.charAt(this.#at);
      if (character === open) depth += 1;
      if (character === close) depth -= 1;
      if (character === open || character === close) {
        this.#at += 1;
        if (depth === 0) return true;
      } else if (character === "<" && this.#script.startsWith("<<", this.#at) && open === "(") {
        return false;
      } else if (!this.#wordPart()) {
        return false;
      }
    }
    return false;
  }
}

function isOnlyComments(text: string): boolean {
  return text.split("\n").every((line) => /^\s*(?:#.*)?$/.test(line));
}
