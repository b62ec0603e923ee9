import { onceUnlessRejected } from "@convoke/protocol/once-unless-rejected";
import { en } from "./en.ts";
import type { MoreWords, Words } from "./words.ts";

/** The words of a language; English, which the page brings along, for those that it does not speak. */
export async function readWords(language: string): Promise<Words> {
  if (isGerman(language)) return (await import("./de.ts")).de;
  return en;
}

/** Reads the words of what is not there at first, when something wants them for the first time; `load` says how patiently. */
export function laterWords(
  language: string,
  load: (read: () => Promise<MoreWords>) => Promise<MoreWords>,
): () => Promise<MoreWords> {
  return onceUnlessRejected(() => load(() => readMore(language)));
}

async function readMore(language: string): Promise<MoreWords> {
  if (isGerman(language)) return (await import("./more-de.ts")).moreDe;
  return (await import("./more-en.ts")).moreEn;
}

function isGerman(language: string): boolean {
  return language.startsWith("de");
}
