import { Argument, type Command } from "commander";
import { completionScripts } from "../completion/scripts.ts";

type Shell = keyof typeof completionScripts;

const notes = `
Load it in the shell's startup file:
  bash  eval "$(convoke completion bash)"
  zsh   eval "$(convoke completion zsh)"
  fish  convoke completion fish | source`;

export function addCompletion(program: Command): void {
  program
    .command("completion")
    .description("Print the script with which a shell completes commands, flags and ids")
    .addArgument(new Argument("<shell>", "bash, zsh or fish").choices(Object.keys(completionScripts)))
    .addHelpText("after", notes)
    .action((shell: Shell) => {
      process.stdout.write(completionScripts[shell]);
    });
}
