import { restore } from "@convoke/server/data";
import type { Command } from "commander";
import { exitCodes } from "../exit-codes.ts";
import { printJson } from "../print/json.ts";

type RestoreOptions = {
  readonly from: string;
  readonly to: string;
  readonly check: boolean;
  readonly json?: true;
};

export function addRestore(program: Command): void {
  program
    .command("restore")
    .description("Check a backup and copy it into a folder that a server can start on")
    .requiredOption("--from <folder>", "the backup")
    .requiredOption("--to <folder>", "target folder; it must be empty or not exist")
    .option("--no-check", "do not look for damage first")
    .option("--json", "print the result as JSON, and no progress")
    .action(restoreBackup);
}

async function restoreBackup({ from, to, check, json }: RestoreOptions): Promise<void> {
  const onProgress = (sentence: string): void => {
    if (json !== true && !sentence.startsWith("sandboxes/")) console.error(`  ${sentence}`);
  };
  const { files, leftOut } = await restore({ backup: from, target: to, isChecked: check, onProgress });
  if (json === true) printJson("copied", { folder: to, files, left_out: leftOut });
  else
    console.log(
      `${files} files were restored to ${to}. Start a server on them: convoke serve --data-dir ${to}`,
    );
  if (leftOut.length === 0) return;
  if (json !== true) for (const file of leftOut) console.log(`left out  ${file}: permission denied`);
  process.exitCode = exitCodes.failed;
}
