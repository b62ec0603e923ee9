import type { Command } from "commander";
import { checkMachine, type Finding } from "../check-machine.ts";
import { exitCodes } from "../exit-codes.ts";
import { createPaint } from "../print/paint.ts";

type DoctorOptions = { readonly dataDir?: string; readonly json?: true };

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description(
      "Check what this machine has, what is missing and how to get it, and how Convoke is configured",
    )
    .option("--data-dir <directory>", "where conversations are kept (default ~/.convoke)")
    .option("--json", "print the findings as JSON")
    .action(doctor);
}

async function doctor(options: DoctorOptions): Promise<void> {
  const findings = await checkMachine(
    process.env,
    options.dataDir === undefined ? {} : { dataDir: options.dataDir },
  );
  if (options.json === true) console.log(JSON.stringify(findings, null, 2));
  else for (const finding of findings) console.log(line(finding));
  if (findings.some(({ state }) => state === "missing")) process.exitCode = exitCodes.failed;
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
