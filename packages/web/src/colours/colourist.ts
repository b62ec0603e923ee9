import { languageOf, type Language } from "./language-of.ts";
import type { AskColours, TokenRanges } from "./token-types.ts";

/** Longer texts stay plain: nobody reads them for their colours. */
export const maxCharacters = 200_000;
/** A text with more ranges would make the page slow to draw. */
const maxRanges = 20_000;
/** A grammar that takes longer is stuck in one of its patterns. */
const maxMs = 5_000;
/** Texts whose colours are cached, so that what comes back on the screen has them at once; and how long these are together. */
const maxCachedTexts = 300;
const maxCachedCharacters = 2_000_000;

/** Reads texts somewhere else, and answers each question in its turn, or not at all. */
export type Reader = {
  readonly ask: (text: string, language: Language) => void;
  readonly close: () => void;
};

export type ColouristDeps = {
  /** Null tells that the reader broke; it is closed then. */
  readonly openReader: (onAnswer: (ranges: TokenRanges | null) => void) => Reader;
  /** Calls back after a while, unless what it returns was called. */
  readonly later: (ms: number, callback: () => void) => () => void;
};

type Question = {
  readonly key: string;
  readonly text: string;
  readonly language: Language;
  readonly answer: (ranges: TokenRanges | null) => void;
};

/** Finds the colours of texts, one after the other, and starts anew where a text takes for ever. */
export class Colourist {
  readonly #deps: ColouristDeps;
  /** The one that was asked for last comes last. */
  readonly #known = new Map<string, Promise<TokenRanges | null>>();
  #knownCharacters = 0;
  readonly #waiting: Question[] = [];
  #asked: { readonly question: Question; readonly stopWaiting: () => void } | null = null;
  #reader: Reader | null = null;

  constructor(deps: ColouristDeps) {
    this.#deps = deps;
  }

  readonly ask: AskColours = (text, name) => {
    const language = languageOf(name);
    if (language === null || text === "" || text.length > maxCharacters) return Promise.resolve(null);
    const key = `${language} ${text}`;
    const known = this.#known.get(key);
    if (known !== undefined) {
      this.#known.delete(key);
      this.#known.set(key, known);
      return known;
    }
    const ranges = new Promise<TokenRanges | null>((answer) => {
      this.#waiting.push({ key, text, language, answer });
    });
    this.#keep(key, ranges);
    this.#askNext();
    return ranges;
  };

  #askNext(): void {
    if (this.#asked !== null) return;
    const question = this.#waiting.shift();
    if (question === undefined) return;
    this.#reader ??= this.#deps.openReader((ranges) => {
      if (ranges === null) this.#giveUp({ isWorthAsking: true });
      else this.#finish(ranges.length > maxRanges * 3 ? null : ranges);
    });
    const stopWaiting = this.#deps.later(maxMs, () => this.#giveUp({ isWorthAsking: false }));
    this.#asked = { question, stopWaiting };
    this.#reader.ask(question.text, question.language);
  }

  #giveUp({ isWorthAsking }: { readonly isWorthAsking: boolean }): void {
    this.#reader?.close();
    this.#reader = null;
    if (isWorthAsking && this.#asked !== null) this.#forget(this.#asked.question.key);
    this.#finish(null);
  }

  #finish(ranges: TokenRanges | null): void {
    if (this.#asked === null) return;
    const { question, stopWaiting } = this.#asked;
    this.#asked = null;
    stopWaiting();
    question.answer(ranges);
    this.#askNext();
  }

  #keep(key: string, ranges: Promise<TokenRanges | null>): void {
    this.#known.set(key, ranges);
    this.#knownCharacters += key.length;
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= maxCachedTexts && this.#knownCharacters <= maxCachedCharacters) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    if (this.#known.delete(key)) this.#knownCharacters -= key.length;
  }
}
