import { settingKeys } from "@convoke/server/settings";
import type { Candidate, CompletionCommand } from "./completion-command.ts";
import { listConversations } from "./list-conversations.ts";
import { readCompletionTable } from "./read-completion-table.ts";

/** `convoke __complete`: prints what may stand in place of the last word, one a line, with a tab before its description. */
export async function main(words: readonly string[]): Promise<void> {
  for (const { value, description } of await complete(words, readCompletionTable(), listConversations))
    console.log(description === "" ? value : `${value}\t${description}`);
}

/** `words` are those behind `convoke` up to the cursor; the last one is not finished. Nothing where files may stand. */
export async function complete(
  words: readonly string[],
  program: CompletionCommand,
  conversations: () => Promise<readonly Candidate[]>,
): Promise<readonly Candidate[]> {
  const before = [...words];
  const unfinished = before.pop() ?? "";
  const { command, position, pendingFlag } = walk(before, program);
  if (pendingFlag !== null) return matching(pendingFlag.map(plain), unfinished);
  if (unfinished.startsWith("-")) {
    const flags = command.flags.filter(({ name }) => !before.includes(name));
    return matching(
      flags.map(({ name, description }) => ({ value: name, description })),
      unfinished,
    );
  }
  const below = Object.entries(command.commands);
  if (below.length > 0)
    return matching(
      below.map(([value, { description }]) => ({ value, description })),
      unfinished,
    );
  const at = command.isVariadic ? Math.min(position, command.arguments.length - 1) : position;
  const argument = command.arguments[at] ?? "text";
  if (argument === "text") return [];
  if (argument === "setting") return matching(settingKeys.map(plain), unfinished);
  if (argument !== "conversation") return matching(argument.map(plain), unfinished);
  return matching(
    [...(await conversations()), { value: "@last", description: "the last changed" }],
    unfinished,
  );
}

type Place = {
  readonly command: CompletionCommand;
  /** Of the argument at the cursor. */
  readonly position: number;
  /** Values of the flag before the cursor; null when none waits for one. */
  readonly pendingFlag: readonly string[] | null;
};

function walk(words: readonly string[], program: CompletionCommand): Place {
  let command = program;
  let position = 0;
  let pendingFlag: readonly string[] | null = null;
  for (const word of words) {
    if (pendingFlag !== null) {
      pendingFlag = null;
      continue;
    }
    if (word.startsWith("-")) {
      pendingFlag = command.flags.find(({ name }) => name === word)?.values ?? null;
      continue;
    }
    const below = Object.hasOwn(command.commands, word) ? command.commands[word] : undefined;
    if (below === undefined) position++;
    else {
      command = below;
      position = 0;
    }
  }
  return { command, position, pendingFlag };
}

function matching(all: readonly Candidate[], unfinished: string): readonly Candidate[] {
  return all.filter(({ value }) => value.startsWith(unfinished));
}

function plain(value: string): Candidate {
  return { value, description: "" };
}
