import { Command } from "commander";
import { apiCommands } from "../command-table.ts";

const common = ["--server", "--data-dir", "--database", "--json"];

/** The sections of docs/guides/cli.md about commands over the API. */
export async function apiCommandsText(): Promise<string> {
  const program = new Command("convoke");
  for (const load of Object.values(apiCommands)) (await load())(program, () => {});
  return program.commands.map((command) => section(command, "##")).join("\n\n");
}

function section(command: Command, heading: string): string {
  const { commands: below } = command;
  const name = nameOf(command);
  if (below.length > 0)
    return [
      `${heading} ${name}`,
      `${command.description()}.`,
      ...below.map((one) => section(one, `${heading}#`)),
    ].join("\n\n");
  const args = command.registeredArguments;
  const usage = [
    "convoke",
    name,
    ...args.map((one) => {
      const word = `${one.name()}${one.variadic ? "..." : ""}`;
      return one.required ? `<${word}>` : `[${word}]`;
    }),
  ].join(" ");
  const own = command.options.filter(({ long }) => !common.includes(long ?? ""));
  const rows = [
    ...args.map((one) => [`\`${one.name()}\``, one.description, ""]),
    ...own.map(({ flags, description, defaultValue }) => [
      `\`${flags}\``,
      description,
      defaultValue === undefined ? "" : `\`${String(defaultValue)}\``,
    ]),
  ];
  return [
    `${heading} ${name}`,
    `${command.description()}.`,
    `\`\`\`sh\n${usage}\n\`\`\``,
    ...(rows.length === 0
      ? []
      : [
          [
            "| Argument or flag | Meaning | Default |",
            "| --- | --- | --- |",
            ...rows.map((row) => `| ${row.join(" | ")} |`),
          ].join("\n"),
        ]),
    `Also ${common.map((flag) => `\`${flag}\``).join(", ")}.`,
  ].join("\n\n");
}

/** With the command that it is below of, such as `profiles ls`. */
function nameOf(command: Command): string {
  const parent = command.parent;
  return parent === null || parent.parent === null ? command.name() : `${parent.name()} ${command.name()}`;
}
