import { onceUnlessRejected } from "@convoke/protocol/once-unless-rejected";
import { en } from "./en.ts";
import type { MoreWords, Words } from "./words.ts";

/** Loads the texts of a language; English, which is bundled, for unsupported ones. */
export async function readWords(language: string): Promise<Words> {
  if (isGerman(language)) return (await import("./de.ts")).de;
  return en;
}

/** Loads the texts of on-demand screens at first use; `load` decides how to retry. */
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
