/** The page's own slash commands; those in `text` take an argument. */
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

/**
 * Parses a command; null for a message that only looks like one: a path, a skill, a command with unexpected
 * arguments.
 */
export function parseCommand(message: string): Command | null {
  const [, word = "", rest = ""] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/u.exec(message.trim()) ?? [];
  const name = commandNames.find((one) => one === word);
  if (name === undefined || (commands[name].text === "none" && rest !== "")) return null;
  return { name, text: rest.trim() };
}
