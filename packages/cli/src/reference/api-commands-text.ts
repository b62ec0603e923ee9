import { Command } from "commander";
import { apiCommands } from "../command-table.ts";

const common = ["--server", "--data-dir", "--database", "--json"];

/** The sections of docs/guides/cli.md about commands over the API. */
export async function apiCommandsText(): Promise<string> {
  const program = new Command("convoke");
  for (const load of Object.values(apiCommands)) (await load())(program, () => {});
  return program.commands.map((command) => section(command)).join("\n\n");
}

/** A command that has others below it has a part for each of them. */
function section(command: Command): string {
  const { commands: below } = command;
  return [
    `## ${command.name()}`,
    `${command.description()}.`,
    ...(below.length === 0
      ? usage(command, "convoke")
      : below.flatMap((one) => [
          `### ${command.name()} ${one.name()}`,
          `${one.description()}.`,
          ...usage(one, `convoke ${command.name()}`),
        ])),
    `Also ${common.map((flag) => `\`${flag}\``).join(", ")}.`,
  ].join("\n\n");
}

function usage(command: Command, parents: string): string[] {
  const args = command.registeredArguments;
  const line = [
    parents,
    command.name(),
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
      defaultValue === undefined ? "" : `\`${textOf(defaultValue)}\``,
    ]),
  ];
  return [
    `\`\`\`sh\n${line}\n\`\`\``,
    ...(rows.length === 0
      ? []
      : [
          [
            "| Argument or flag | Meaning | Default |",
            "| --- | --- | --- |",
            ...rows.map((row) => `| ${row.join(" | ")} |`),
          ].join("\n"),
        ]),
  ];
}

/** The text of a default. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
