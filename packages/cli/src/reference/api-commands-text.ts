import { Command } from "commander";
import { apiCommands } from "../command-table.ts";

const common = ["--server", "--data-dir", "--database", "--json"];

/** The sections of docs/guides/cli.md about commands over the API. */
export async function apiCommandsText(): Promise<string> {
  const program = new Command("convoke");
  for (const load of Object.values(apiCommands)) (await load())(program, () => {});
  return program.commands.map(section).join("\n\n");
}

function section(command: Command): string {
  const args = command.registeredArguments;
  const usage = [
    "convoke",
    command.name(),
    ...args.map((one) => {
      const name = `${one.name()}${one.variadic ? "..." : ""}`;
      return one.required ? `<${name}>` : `[${name}]`;
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
    `## ${command.name()}`,
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
