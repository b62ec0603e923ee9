import type { Damage } from "@convoke/server/data";
import type { Command } from "commander";
import { checkMachine } from "../check-machine.ts";
import type { Finding } from "../finding.ts";
import { exitCodes } from "../exit-codes.ts";
import { createPaint } from "../print/paint.ts";
import { refuseDatabase, storeOverrides, withStore, type StoreOptions } from "./store-options.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { printJson } from "../print/json.ts";

type DoctorOptions = StoreOptions & { readonly checkData?: true; readonly json?: true };

export function addDoctor(program: Command): void {
  const command = program
    .command("doctor")
    .description("Check this machine and the configuration, and say how to fix what is missing");
  withStore(command, "where conversations are stored (default ~/.convoke)")
    .option("--check-data", "verify the data folder against its checksums and indexes instead")
    .option("--json", "print the findings as JSON")
    .action(doctor);
}

async function doctor(options: DoctorOptions): Promise<void> {
  if (options.checkData === true) {
    await checkStoredData(options);
    return;
  }
  const findings = await checkMachine(configuredEnvironment(), storeOverrides(options));
  if (options.json === true) printJson("findings", findings, 2);
  else for (const finding of findings) console.log(line(finding));
  if (findings.some(({ state }) => state === "missing")) process.exitCode = exitCodes.failed;
}

/** Prints each damage as it is found; the exit code says whether there is any. */
async function checkStoredData({ json, ...options }: DoctorOptions): Promise<void> {
  const { checkData, readConfig } = await import("@convoke/server/data");
  const config = readConfig(configuredEnvironment(), storeOverrides(options));
  refuseDatabase(
    config.database !== null,
    "A PostgreSQL that keeps checksums (initdb --data-checksums) checks its pages itself.",
  );
  const damages: Damage[] = [];
  const { events } = await checkData({
    dataDir: config.dataDir,
    onProgress: (sentence) => {
      if (json !== true) console.error(`  ${sentence}`);
    },
    onDamage: (damage) => {
      damages.push(damage);
      if (json !== true) console.log(`damaged   ${damage.file}: ${damage.problem}`);
    },
  });
  if (json === true) printJson("damages", { events, damages }, 2);
  else if (damages.length === 0) console.log(`No damage found. ${events} events were checked.`);
  else {
    console.log(
      `${damages.length === 1 ? "1 problem" : `${damages.length} problems`} found in ${config.dataDir}. Everything not listed is intact and still served. To recover the rest, restore a backup into another folder.`,
    );
  }
  if (damages.length > 0) process.exitCode = exitCodes.failed;
}

function line({ name, state, detail, fix }: Finding): string {
  const paint = createPaint(process.stdout);
  const mark = {
    ok: paint.green("ok      "),
    optional: paint.yellow("optional"),
    missing: paint.red("missing "),
  }[state];
  return `${mark}  ${name.padEnd(18)}  ${detail}${fix === null ? "" : `\n${" ".repeat(30)}${fix}`}`;
}
