import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { Option, type Command } from "commander";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { describeLogLine, logLevels, type LogLevel } from "../print/log-line.ts";
import { parseCount } from "./parse-options.ts";

type LogsOptions = {
  readonly follow?: true;
  readonly level: LogLevel;
  readonly lines: number;
  readonly file?: string;
  readonly unit: string;
  readonly json?: true;
};

export function addLogs(program: Command): void {
  program
    .command("logs")
    .description("Show the log of the server that runs as a service, or a file with the error output of one")
    .option("-f, --follow", "show new lines as they come, until Ctrl-C")
    .addOption(
      new Option("--level <level>", "the least level that is shown")
        .choices(Object.keys(logLevels))
        .default("info"),
    )
    .option("--lines <number>", "how many of the newest lines are read", parseCount, 200)
    .option("--file <file>", "read this file, not the journal of the service")
    .option("--unit <name>", "name of the service", "convoke")
    .option("--json", "print the lines as they are in the log")
    .action(logs);
}

async function logs(options: LogsOptions): Promise<void> {
  const { file, level, json } = options;
  if (file !== undefined && !existsSync(file))
    throw new CommandError(
      `${file} is not there. Name a file with the error output of convoke serve.`,
      exitCodes.usage,
    );
  const [program, args] = file === undefined ? journal(options) : tail(file, options);
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const stop = (): void => void child.kill();
  process.stdout.once("error", stop);
  const print = async (): Promise<number> => {
    let count = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      const shown = describeLogLine(line, level, json === true);
      if (shown === null) continue;
      count++;
      process.stdout.write(`${shown}\n`);
    }
    return count;
  };
  try {
    const [count, [code]] = await Promise.all([print(), once(child, "close") as Promise<[number | null]>]);
    if (code !== 0 && code !== null) throw new CommandError(`${program} ended with code ${code}.`);
    const where =
      file === undefined
        ? ` of the service ${options.unit}. A server in a terminal writes its log there; --file reads a file with it`
        : "";
    if (count === 0) console.error(`There are no such lines${where}.`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new CommandError(
      `${program} is not installed. The log is the error output of convoke serve: name a file that has it with --file.`,
    );
  } finally {
    process.stdout.off("error", stop);
  }
}

/** Of the machine's services and of the user's own. */
function journal({ follow, lines, unit }: LogsOptions): [string, string[]] {
  const where = ["--unit", unit, "--user-unit", unit];
  return [
    "journalctl",
    [
      "--quiet",
      "--no-pager",
      "--output=cat",
      `--lines=${lines}`,
      ...where,
      ...(follow === true ? ["--follow"] : []),
    ],
  ];
}

/** `-F` continues with the new file after a rotation. */
function tail(file: string, { follow, lines }: LogsOptions): [string, string[]] {
  return ["tail", ["-n", String(lines), ...(follow === true ? ["-F"] : []), "--", file]];
}
