import type { Command } from "commander";

/** Has the help of a command that only has others below it show theirs as well: flags belong to those. */
export function showSubcommands(command: Command): void {
  command.addHelpText("after", () =>
    command.commands.map((below) => `\n${below.helpInformation().trimEnd()}`).join("\n"),
  );
}
