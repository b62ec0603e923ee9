import { Lexer, type Token } from "marked";

/** Maximum nesting of quotes, lists and emphasis; deeper ones are shown as source text. */
export const maxDepth = 16;

/** A run of inline text, in characters; a longer one has no emphasis or links. */
const maxInline = 8_000;

/** Likewise for a run with a longer word: the pattern that finds e-mail addresses takes quadratic time. */
const longWord = /\S{1000}/u;

/** Likewise for a run with more marks of emphasis: finding their pairs takes cubic time. */
const manyMarks = /(?:[*_~][^*_~]*){200}/u;

/** A whole text in characters; a longer one is shown as plain text. */
export const maxMarkdown = 200_000;

/**
 * Text to blocks. It never throws and takes time in proportion to the text, whatever a model or a tool wrote: a call stack
 * that overflows here would take the whole page with it.
 */
export function parseMarkdown(text: string): readonly Token[] {
  if (text.length > maxMarkdown) return [plainBlock(text)];
  try {
    return boundedLexer()
      .lex(text)
      .filter(({ type }) => type !== "space" && type !== "def");
  } catch {
    // An error of the lexer: show the source text.
    return [plainBlock(text)];
  }
}

type BlockTokens = (source: string, tokens?: Token[], isParagraphClipped?: boolean) => Token[];

/** The lexer recurses through these two methods. */
function boundedLexer(): Lexer {
  const lexer = new Lexer({ gfm: true, breaks: false });
  const blockTokens: BlockTokens = lexer.blockTokens.bind(lexer);
  const inlineTokens = lexer.inlineTokens.bind(lexer);
  let blockDepth = 0;
  let inlineDepth = 0;
  const boundedBlocks: BlockTokens = (source, tokens = [], isParagraphClipped) => {
    if (blockDepth >= maxDepth) {
      tokens.push(plainBlock(source));
      return tokens;
    }
    blockDepth += 1;
    try {
      return blockTokens(source, tokens, isParagraphClipped);
    } finally {
      blockDepth -= 1;
    }
  };
  // It returns the very list that it is given, so that both of its signatures are kept.
  lexer.blockTokens = boundedBlocks as Lexer["blockTokens"];
  lexer.inlineTokens = (source: string, tokens: Token[] = []) => {
    if (inlineDepth >= maxDepth || isCostly(source)) {
      tokens.push(plainText(source));
      return tokens;
    }
    inlineDepth += 1;
    try {
      return inlineTokens(source, tokens);
    } finally {
      inlineDepth -= 1;
    }
  };
  return lexer;
}

function isCostly(source: string): boolean {
  return source.length > maxInline || longWord.test(source) || manyMarks.test(source);
}

function plainBlock(text: string): Token {
  return { type: "paragraph", raw: text, text, tokens: [plainText(text)] };
}

function plainText(text: string): Token {
  return { type: "text", raw: text, text, escaped: false };
}
