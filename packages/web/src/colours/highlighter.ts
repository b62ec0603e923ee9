import { languageOf, type Language } from "./language-of.ts";
import type { FindTokenRanges, TokenRanges } from "./token-types.ts";

/** Longer texts are not highlighted. */
export const maxCharacters = 200_000;
/** More ranges would make the page slow to render. */
const maxRanges = 20_000;
/** Timeout of one text: a slower grammar hangs in one of its patterns. */
const maxMs = 5_000;
/** Maximum number of cached texts, and their maximum total length. */
const maxCachedTexts = 300;
const maxCachedCharacters = 2_000_000;

/** Tokenizes texts in a worker. Answers requests in order, or never. */
export type Reader = {
  readonly ask: (text: string, language: Language) => void;
  readonly close: () => void;
};

export type HighlighterDeps = {
  /** Null reports that the reader failed; it is then closed. */
  readonly openReader: (onAnswer: (ranges: TokenRanges | null) => void) => Reader;
  /** Calls back after `ms`, unless the returned function was called. */
  readonly later: (ms: number, callback: () => void) => () => void;
};

type HighlightRequest = {
  readonly key: string;
  readonly text: string;
  readonly language: Language;
  readonly answer: (ranges: TokenRanges | null) => void;
};

/** Highlights texts one after another in a worker, and restarts the worker if a text takes too long. */
export class Highlighter {
  readonly #deps: HighlighterDeps;
  /** An LRU cache, most recently used last. */
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
