import { createContext, use } from "react";
import { en } from "./en.ts";
import type { moreEn } from "./more-en.ts";

type Widened<Value> = Value extends string
  ? string
  : Value extends (...args: infer Args) => string
    ? (...args: Args) => string
    : Value extends readonly (infer Item)[]
      ? readonly Widened<Item>[]
      : { readonly [Key in keyof Value]: Widened<Value[Key]> };

/** The message catalogue of one language: a missing key is a type error. */
export type Words = Widened<typeof en>;

/** The messages of screens that load on demand. */
export type MoreWords = Widened<typeof moreEn>;

/** Its value never changes while the page is open. */
export const WordsContext = createContext<Words>(en);

/** Answers with the same promise each time. */
export const MoreWordsContext = createContext<(() => Promise<MoreWords>) | null>(null);

export function useWords(): Words {
  return use(WordsContext);
}

/** For components that load on demand: suspends until the texts are loaded. */
export function useMoreWords(): MoreWords {
  const read = use(MoreWordsContext);
  if (read === null) throw new Error("useMoreWords needs a MoreWordsContext");
  return use(read());
}
