import { describeRule } from "@convoke/client";
import type { CommandReading, Rule, RuleTrial } from "@convoke/protocol";
import { printable } from "./printable.ts";

/** A rule as a line with its source and position. */
export type ListedRule = { readonly source: string; readonly index: number; readonly rule: object };

const titles: Readonly<Record<string, string>> = {
  server: "Server (CONVOKE_RULES)",
  user: "User",
  project: "Project (.convoke/rules.json)",
  conversation: "Conversation",
};

/** All rules by their source, and which of the project's were refused. */
export function ruleLines(rules: readonly ListedRule[], problems: readonly string[]): string[] {
  const sources = [...new Set(rules.map(({ source }) => source))];
  const lines = sources.flatMap((source) => [
    titles[source] ?? source,
    ...rules.filter((item) => item.source === source).map((item) => `  ${item.index}  ${lineOf(item.rule)}`),
  ]);
  return [...(lines.length === 0 ? ["There are no rules."] : lines), ...problemLines(problems)];
}

/** The decision about a command, and how it was read. */
export function trialLines({ effect, decided_by: by, reading, problems }: RuleTrial): string[] {
  const decision =
    by === null
      ? "No rule decides: the confirmation policy of the conversation does."
      : `${effect}: ${titles[by.source] ?? by.source}, rule ${by.index}: ${lineOf(by.rule)}`;
  return [decision, ...(reading === null ? [] : readingLines(reading)), ...problemLines(problems)];
}

function readingLines({ parts, opaque }: CommandReading): string[] {
  return [
    "Read as:",
    ...parts.flatMap(({ words, inside, opaque: why }) => [
      `${"  ".repeat(inside.length + 1)}${printable(words.map(shownWord).join(" "))}`,
      ...(why === null ? [] : [`${"  ".repeat(inside.length + 2)}not allowable: ${printable(why)}`]),
    ]),
    ...opaque.map((why) => `  not allowable: ${printable(why)}`),
  ];
}

function shownWord(word: string | null): string {
  if (word === null) return "(unknown)";
  return /^[^\s"'\\()]+$/u.test(word) ? word : JSON.stringify(word);
}

function lineOf(rule: object): string {
  const { note } = rule as Rule;
  const text = describeRule(rule);
  return printable(note === undefined ? text : `${text}  (${note})`).replaceAll("\n", " ");
}

function problemLines(problems: readonly string[]): string[] {
  return problems.map((problem) => `Refused in .convoke/rules.json: ${printable(problem)}`);
}
