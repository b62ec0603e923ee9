/** Commands of the page itself, by what they are called behind the slash; with those of `text` something else is said. */
export const commands = {
  stop: { text: "none" },
  pause: { text: "none" },
  go: { text: "none" },
  condense: { text: "none" },
  fork: { text: "none" },
  goal: { text: "needed" },
  ask: { text: "needed" },
  model: { text: "needed" },
  limit: { text: "needed" },
} as const satisfies Readonly<Record<string, { readonly text: "none" | "needed" }>>;

export type CommandName = keyof typeof commands;

export const commandNames = Object.keys(commands) as CommandName[];

export type Command = { readonly name: CommandName; readonly text: string };

/** A message that is a command; null for one that only begins like one: a path, a skill, a command with words that it does not take. */
export function parseCommand(message: string): Command | null {
  const [, word = "", rest = ""] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/u.exec(message.trim()) ?? [];
  const name = commandNames.find((one) => one === word);
  if (name === undefined || (commands[name].text === "none" && rest !== "")) return null;
  return { name, text: rest.trim() };
}
