import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { bannedPhrases, bannedWords } from "./banned-words.ts";
import { listSourceFiles } from "./source-files.ts";
import { tokenize } from "./tokenize.ts";

const folders = ["packages", "scripts", "bench", "e2e", "test"];
const extensions = [".ts", ".tsx", ".mjs"];
/** These files contain the banned words on purpose. */
const ownFiles = new Set(["scripts/banned-words.ts", "scripts/check-words.test.ts"]);

type Counts = Record<string, number>;

/** Counts each banned word in the sources below `root`. */
export function countWords(root: string): Counts {
  const counts: Counts = Object.fromEntries([...bannedWords, ...bannedPhrases].map(({ word }) => [word, 0]));
  const add = (word: string, times = 1): void => {
    counts[word] = (counts[word] ?? 0) + times;
  };
  // The same few thousand names occur again and again.
  const ofRun = once((run) =>
    partsOf(run).flatMap((part) =>
      everywhere.filter(({ forms }) => forms.test(part)).map(({ word }) => word),
    ),
  );
  const ofName = once((name) => partsOf(name).flatMap(wordsOfNamePart));
  for (const file of listSourceFiles(root, folders, extensions)) {
    if (ownFiles.has(file)) continue;
    const source = readFileSync(path.join(root, file), "utf8");
    const fileName = path.basename(file).replace(/\..*/, "");
    for (const run of `${fileName} ${source}`.match(candidates) ?? [])
      for (const word of ofRun(run)) add(word);
    for (const word of ofName(fileName)) add(word);
    for (const { type, value } of tokenize(source)) {
      if (type === "word") for (const word of ofName(value)) add(word);
    }
    for (const { word, forms } of bannedPhrases) add(word, (source.match(forms) ?? []).length);
  }
  return counts;
}

/** One line for each word that occurs more often than allowed. */
export function findGrowth(counts: Counts, allowed: Counts): string[] {
  return [...bannedWords, ...bannedPhrases].flatMap(({ word, use, only }) => {
    const [now = 0, before = 0] = [counts[word], allowed[word]];
    const where = only === undefined ? "names, comments and texts" : "names";
    return now > before ? [`"${word}" in ${where}: ${now}, allowed are ${before}; use: ${use}`] : [];
  });
}

/** New allowances: counts only fall. A word without an allowance starts with its current count. */
export function shrink(counts: Counts, allowed: Counts): Counts {
  return Object.fromEntries(
    Object.entries(counts).map(([word, now]) => [word, Math.min(now, allowed[word] ?? now)]),
  );
}

/** The words of `lastSeenByNode`, `LAST_SEEN` or `last-seen`, in lower case. */
function partsOf(text: string): string[] {
  return (text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((part) => part.toLowerCase());
}

const everywhere = bannedWords.filter(({ only }) => only === undefined);
/** Runs of letters that may contain a banned word: names such as `closeNodes`, or plain words. */
const candidates = new RegExp(
  `[a-z]*(?:${everywhere.map(({ forms }) => forms.source.slice(1, -1)).join("|")})[a-z]*`,
  "gi",
);
const onlyInNames = bannedWords.filter(({ only }) => only !== undefined);

function wordsOfNamePart(part: string, index: number): string[] {
  return onlyInNames
    .filter(({ forms, only }) => (only === "names" || index === 0) && forms.test(part))
    .map(({ word }) => word);
}

function once(find: (text: string) => readonly string[]): (text: string) => readonly string[] {
  const answers = new Map<string, readonly string[]>();
  return (text) => {
    const answer = answers.get(text) ?? find(text);
    answers.set(text, answer);
    return answer;
  };
}

function main(root: string): void {
  const { values } = parseArgs({ options: { write: { type: "boolean", default: false } } });
  const file = path.join(root, "scripts", "words-allowed.json");
  const counts = countWords(root);
  const before = JSON.parse(readFileSync(file, "utf8")) as Counts;
  const allowed = values.write ? shrink(counts, before) : before;
  if (values.write) writeFileSync(file, `${JSON.stringify(allowed, null, 2)}\n`);
  const growth = findGrowth(counts, allowed);
  for (const line of growth) console.error(line);
  if (growth.length > 0) {
    console.error(
      "Use the term; scripts/banned-words.ts has the list, `git diff main` shows what you added.",
    );
    process.exitCode = 1;
  }
  const fewer = Object.keys(counts).filter((word) => (counts[word] ?? 0) < (allowed[word] ?? 0));
  if (fewer.length > 0) {
    console.log(
      `fewer than allowed: ${fewer.join(", ")}; record it: npx node scripts/check-words.ts --write`,
    );
  }
}

if (import.meta.main) main(path.resolve(import.meta.dirname, ".."));
