/** One lexical token of TypeScript. `value` of a string is its raw content without the quotes. */
export type Token = {
  readonly type: "word" | "string" | "template" | "number" | "regex" | "punctuation";
  readonly value: string;
  /** 1-based. */
  readonly line: number;
};

/**
 * Splits TypeScript into tokens, comments left out; templates with substitutions keep the tokens of their
 * substitutions. Good enough to find imports and property reads without a compiler: TypeScript 7 has no JavaScript API.
 * Never throws; an unterminated string ends at the line's end.
 */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  /** Brace depth of each open template substitution, innermost last. */
  const substitutions: number[] = [];
  let depth = 0;
  let line = 1;
  let position = 0;

  const take = (type: Token["type"], text: string, value = text): void => {
    tokens.push({ type, value, line });
    line += countNewlines(text);
    position += text.length;
  };
  const skip = (text: string): void => {
    line += countNewlines(text);
    position += text.length;
  };
  /** Reads template text up to the closing backtick or the next substitution. */
  const takeTemplateText = (openingLength: number): void => {
    const text = match(templateText, source, position + openingLength);
    const end = position + openingLength + text.length;
    if (source.startsWith("${", end)) {
      skip(source.slice(position, end + 2));
      substitutions.push(depth);
      depth += 1;
      return;
    }
    const whole = source.slice(position, end + 1);
    if (openingLength === 1 && source[position] === "`") take("template", whole, text);
    else skip(whole);
  };

  while (position < source.length) {
    const blank = match(blankOrComment, source, position);
    if (blank !== "") {
      skip(blank);
      continue;
    }
    const character = source[position] ?? "";
    if (character === "`") {
      takeTemplateText(1);
      continue;
    }
    if (character === "}" && substitutions.at(-1) === depth - 1) {
      substitutions.pop();
      depth -= 1;
      takeTemplateText(1);
      continue;
    }
    const string = match(quoted, source, position);
    if (string !== "") {
      take("string", string, string.slice(1, -1));
      continue;
    }
    const word = match(identifier, source, position);
    if (word !== "") {
      take("word", word);
      continue;
    }
    const number = match(numeric, source, position);
    if (number !== "") {
      take("number", number);
      continue;
    }
    const regex =
      character === "/" && canStartRegex(tokens.at(-1)) ? match(regexLiteral, source, position) : "";
    if (regex !== "") {
      take("regex", regex);
      continue;
    }
    if (character === "{") depth += 1;
    if (character === "}") depth -= 1;
    take("punctuation", character);
  }
  return tokens;
}

const blankOrComment = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y;
const templateText = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*/y;
const quoted = /"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'/y;
const identifier = /#?[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const numeric = /\d[\w.]*/y;
const regexLiteral = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;

const wordsBeforeRegex = new Set(
  "return typeof case in of delete void throw new do else await yield instanceof".split(" "),
);

/** After a value a slash divides; elsewhere it opens a regular expression. `<` counts as a value because of JSX closing tags. */
function canStartRegex(previous: Token | undefined): boolean {
  if (previous === undefined) return true;
  if (previous.type === "word") return wordsBeforeRegex.has(previous.value);
  return previous.type === "punctuation" && !")]}<".includes(previous.value);
}

function match(pattern: RegExp, source: string, position: number): string {
  pattern.lastIndex = position;
  return pattern.exec(source)?.[0] ?? "";
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
