import type { Command } from "commander";
import { configurationSchema } from "../configuration/configuration-schema.ts";
import { showSubcommands } from "./show-subcommands.ts";
import { editFile, getSetting, listSettings, setSetting, unsetSetting } from "./config-actions.ts";

const notes = `
Later wins: built in, /etc/convoke/convoke.toml, ~/.config/convoke/config.toml,
the file that CONVOKE_CONFIG names, the environment, flags. A secret is never
shown. It may be in a file of its own: NAME_FILE in the environment, key_file in
a configuration file.`;

export function addConfig(program: Command): void {
  const config = program
    .command("config")
    .description("Show and change the configuration")
    .option("--origin", "say where each value comes from")
    .option("--all", "also show what nobody has set")
    .option("--json", "print one JSON object a line: key, value, origin, is_secret")
    .addHelpText("after", notes)
    .action(listSettings);
  config
    .command("get <key>")
    .description("Print one value; a secret is not shown")
    .action((key: string) => getSetting(key));
  config
    .command("set <key> <value>")
    .description("Write a value into your configuration file; - reads it from standard input")
    .action(setSetting);
  config
    .command("unset <key>")
    .description("Remove a value from your configuration file")
    .action((key: string) => unsetSetting(key));
  config
    .command("schema")
    .description("Print the JSON schema of configuration files")
    .action(() => console.log(JSON.stringify(configurationSchema(), null, 2)));
  config.command("edit").description("Open your configuration file in $VISUAL or $EDITOR").action(editFile);
  for (const command of config.commands) command.exitOverride();
  showSubcommands(config);
}
