import { Command } from "commander";
import { conversationArgument } from "../api/find-conversation.ts";
import { commands } from "../command-table.ts";
import type { CompletionArgument, CompletionCommand } from "./completion-command.ts";

/** The whole command line, for `completion-table.generated.json`. Loads every command. */
export async function describeCommands(): Promise<CompletionCommand> {
  const program = new Command("convoke");
  for (const load of Object.values(commands)) (await load())(program, () => {});
  return describe(program);
}

function describe(command: Command): CompletionCommand {
  const args = command.registeredArguments;
  return {
    description: command.description(),
    flags: command.options.map(({ long, short, description, argChoices, required, optional }) => ({
      name: long ?? short ?? "",
      description,
      values: required || optional ? (argChoices ?? []) : null,
    })),
    arguments: args.map((one): CompletionArgument => {
      if (one.description === conversationArgument) return "conversation";
      return one.argChoices ?? (one.name() === "key" ? "setting" : "text");
    }),
    isVariadic: args.at(-1)?.variadic ?? false,
    commands: Object.fromEntries(command.commands.map((below) => [below.name(), describe(below)])),
  };
}
