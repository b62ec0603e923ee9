import { backUp, readConfig } from "@convoke/server/data";
import type { Command } from "commander";
import { exitCodes } from "../exit-codes.ts";
import { refuseDatabase } from "./store-options.ts";

type BackupOptions = { readonly to: string; readonly dataDir?: string; readonly json?: true };

export function addBackup(program: Command): void {
  program
    .command("backup")
    .description("Copy the data folder, also of a server that runs, so that a server can start from the copy")
    .requiredOption("--to <folder>", "where the copy goes: a folder that is empty or not there")
    .option("--data-dir <directory>", "the folder to copy (default ~/.convoke)")
    .option("--json", "print the result as JSON, and no progress")
    .action(backup);
}

async function backup({ to, dataDir, json }: BackupOptions): Promise<void> {
  const config = readConfig(process.env, dataDir === undefined ? {} : { dataDir });
  refuseDatabase(
    config.database !== null,
    "What is in the database is copied with pg_dump; the folder's own files with any copy.",
  );
  const onProgress = (file: string): void => {
    if (json !== true && !file.startsWith("sandboxes/")) console.error(`  ${file}`);
  };
  const { files, leftOut } = await backUp({ dataDir: config.dataDir, target: to, onProgress });
  console.log(
    json === true
      ? JSON.stringify({ folder: to, files, left_out: leftOut })
      : `${files} files are in ${to}. With the file master-key all secrets in it can be read: keep them apart.`,
  );
  if (leftOut.length === 0) return;
  if (json !== true) for (const file of leftOut) console.log(`left out  ${file}: this user may not read it`);
  process.exitCode = exitCodes.failed;
}
