import { languageOf, type Language } from "./language-of.ts";
import type { FindTokenRanges, TokenRanges } from "./token-types.ts";

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

export type HighlighterDeps = {
  /** Null tells that the reader broke; it is closed then. */
  readonly openReader: (onAnswer: (ranges: TokenRanges | null) => void) => Reader;
  /** Calls back after a while, unless what it returns was called. */
  readonly later: (ms: number, callback: () => void) => () => void;
};

type HighlightRequest = {
  readonly key: string;
  readonly text: string;
  readonly language: Language;
  readonly answer: (ranges: TokenRanges | null) => void;
};

/** Finds the colours of texts, one after the other, and starts anew where a text takes for ever. */
export class Highlighter {
  readonly #deps: HighlighterDeps;
  /** The one that was asked for last comes last. */
  readonly #cache = new Map<string, Promise<TokenRanges | null>>();
  #cachedCharacters = 0;
  readonly #waiting: HighlightRequest[] = [];
  #pending: { readonly request: HighlightRequest; readonly stopWaiting: () => void } | null = null;
  #reader: Reader | null = null;

  constructor(deps: HighlighterDeps) {
    this.#deps = deps;
  }

  readonly ask: FindTokenRanges = (text, name) => {
    const language = languageOf(name);
    if (language === null || text === "" || text.length > maxCharacters) return Promise.resolve(null);
    const key = `${language} ${text}`;
    const cached = this.#cache.get(key);
    if (cached !== undefined) {
      this.#cache.delete(key);
      this.#cache.set(key, cached);
      return cached;
    }
    const ranges = new Promise<TokenRanges | null>((answer) => {
      this.#waiting.push({ key, text, language, answer });
    });
    this.#addToCache(key, ranges);
    this.#askNext();
    return ranges;
  };

  #askNext(): void {
    if (this.#pending !== null) return;
    const request = this.#waiting.shift();
    if (request === undefined) return;
    this.#reader ??= this.#deps.openReader((ranges) => {
      if (ranges === null) this.#giveUp({ isRetryable: true });
      else this.#finish(ranges.length > maxRanges * 3 ? null : ranges);
    });
    const stopWaiting = this.#deps.later(maxMs, () => this.#giveUp({ isRetryable: false }));
    this.#pending = { request, stopWaiting };
    this.#reader.ask(request.text, request.language);
  }

  #giveUp({ isRetryable }: { readonly isRetryable: boolean }): void {
    this.#reader?.close();
    this.#reader = null;
    if (isRetryable && this.#pending !== null) this.#removeFromCache(this.#pending.request.key);
    this.#finish(null);
  }

  #finish(ranges: TokenRanges | null): void {
    if (this.#pending === null) return;
    const { request, stopWaiting } = this.#pending;
    this.#pending = null;
    stopWaiting();
    request.answer(ranges);
    this.#askNext();
  }

  #addToCache(key: string, ranges: Promise<TokenRanges | null>): void {
    this.#cache.set(key, ranges);
    this.#cachedCharacters += key.length;
    for (const oldest of this.#cache.keys()) {
      if (this.#cache.size <= maxCachedTexts && this.#cachedCharacters <= maxCachedCharacters) return;
      this.#removeFromCache(oldest);
    }
  }

  #removeFromCache(key: string): void {
    if (this.#cache.delete(key)) this.#cachedCharacters -= key.length;
  }
}
