import { backUp, readConfig } from "@convoke/server/data";
import type { Command } from "commander";
import { exitCodes } from "../exit-codes.ts";
import { refuseDatabase } from "./store-options.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { printJson } from "../print/json.ts";

type BackupOptions = { readonly to: string; readonly dataDir?: string; readonly json?: true };

export function addBackup(program: Command): void {
  program
    .command("backup")
    .description("Back up the data folder, even while a server runs; a server can start from the copy")
    .requiredOption("--to <folder>", "target folder; it must be empty or not exist")
    .option("--data-dir <directory>", "the folder to copy (default ~/.convoke)")
    .option("--json", "print the result as JSON, and no progress")
    .action(backup);
}

async function backup({ to, dataDir, json }: BackupOptions): Promise<void> {
  const config = readConfig(configuredEnvironment(), dataDir === undefined ? {} : { dataDir });
  refuseDatabase(
    config.database !== null,
    "Back up the database with pg_dump, and the files of the folder with any copy.",
  );
  const onProgress = (file: string): void => {
    if (json !== true && !file.startsWith("sandboxes/")) console.error(`  ${file}`);
  };
  const { files, leftOut } = await backUp({ dataDir: config.dataDir, target: to, onProgress });
  if (json === true) printJson("copied", { folder: to, files, left_out: leftOut });
  else
    console.log(
      `${files} files were copied to ${to}. The file master-key decrypts all secrets in the copy: store it separately.`,
    );
  if (leftOut.length === 0) return;
  if (json !== true) for (const file of leftOut) console.log(`left out  ${file}: permission denied`);
  process.exitCode = exitCodes.failed;
}
