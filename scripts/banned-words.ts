/** A word to remove from the code, and the standard term to use instead. */
type BannedWord = {
  /** The name under which `words-allowed.json` counts it. */
  readonly word: string;
  /** Matches one part of a name (`heardLooks` has two), or a word of a comment or text, in lower case. */
  readonly forms: RegExp;
  readonly use: string;
  /** `names`: banned only in names, because plain English needs the word. `first`: only as first part of a name. Default: everywhere. */
  readonly only?: "names" | "first";
};

const banned = (word: string, forms: RegExp, use: string, only?: BannedWord["only"]): BannedWord => ({
  word,
  forms,
  use,
  ...(only !== undefined && { only }),
});

/** One word per line; `docs/glossary.md` explains the terms to use. */
export const bannedWords: readonly BannedWord[] = [
  banned("neighbour", /^neighbou?rs?$/, "node"),
  banned("fellow", /^fellows?$/, "node"),
  banned("look", /^look(?:s|ed|ing)?$/, "poll, check", "names"),
  banned("heed", /^heed(?:s|ed|ing)?$/, "check"),
  banned("tell", /^(?:tells?|told|telling)$/, "publish, emit, report", "names"),
  banned("hear", /^(?:hears?|heard|hearing)$/, "subscribe, receive", "names"),
  banned("kept", /^kept$/, "cached, stored", "names"),
  banned("most", /^most$/, "max", "first"),
  banned("away", /^away$/, "unavailable", "names"),
  banned("said", /^said$/, "text", "names"),
  banned("glance", /^glances?$/, "summary"),
  banned("standing", /^standings?$/, "live status", "names"),
  banned("purse", /^purses?$/, "budget guard"),
  banned("book", /^books?$/, "store, ledger", "names"),
  banned("booking", /^(?:booked|bookings?)$/, "ledger entry, recorded"),
  banned("piece", /^pieces?$/, "chunk", "names"),
  banned("slip", /^slips?$/, "typo", "names"),
  banned("beat", /^beats?$/, "heartbeat"),
  banned("door", /^doors?$/, "internal listener, address"),
  banned("doomed", /^doomed$/, "marked as deleted"),
  banned("poison", /^poison(?:s|ed)?$/, "fenced"),
  banned("departure", /^departures?$/, "client disconnect"),
  banned("dormant", /^dormant$/, "deferred initialisation"),
  banned("patience", /^patience$/, "timeout"),
  banned("anew", /^anew$/, "again"),
  banned("whoever", /^whoever$/, "caller, user"),
  banned("colourist", /^colourists?$/, "highlighter"),
  banned("essence", /^essences?$/, "summary"),
];

/** Phrases that form one term, in names, comments and texts. */
export const bannedPhrases: readonly BannedWord[] = [
  banned("keep house", /keep[\s-]?house/gi, "maintenance"),
  banned("left work", /left[\s-]?work/gi, "unfinished runs"),
  banned("good for ms", /good[\s-]?for[\s-]?ms/gi, "ttlMs"),
  banned("goes on with", /\b(?:goes|going|gone|went)[\s-]on[\s-]with\b/gi, "resumes, continues"),
  banned("taken up", /\b(?:taken|took) up\b/gi, "resumed, adopted"),
  banned("put away", /\bput(?:s|ting)? away\b/gi, "archived, evicted"),
  banned("no more", /\b[a-z]+NoMore\b/g, "unsubscribe, close"),
  banned("took for dead", /took this one for dead/gi, "node fenced after missed heartbeats"),
  banned(
    "routes by age",
    /\b(?:newer|late|companion)-?routes/gi,
    "a name that says what the routes are about",
  ),
];
