import { readConfig, readHeadsInPlace, verifyAuditInPlace } from "@convoke/server/audit";
import type { Command } from "commander";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { auditLines } from "../print/audit-lines.ts";
import { showSubcommands } from "./show-subcommands.ts";
import { storeOverrides, withStoreAndJson, type StoreOptions } from "./store-options.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { printJson } from "../print/json.ts";

type AuditOptions = StoreOptions & { readonly json?: true };

/** `convoke audit`: works on the files of the data folder, whether a server runs on it or not. */
export function addAudit(program: Command): void {
  const audit = program.command("audit").description("Check that nobody changed the audit log");
  withAuditOptions(audit.command("verify")).description("Name the first break of each stream").action(verify);
  withAuditOptions(audit.command("head"))
    .description("Print the last sealed line of each stream, to be kept elsewhere")
    .action(head);
  showSubcommands(audit);
}

function withAuditOptions(command: Command): Command {
  return withStoreAndJson(command, "the folder with the audit log (default ~/.convoke)");
}

async function verify(options: AuditOptions): Promise<void> {
  const report = await verifyAuditInPlace(readConfig(configuredEnvironment(), storeOverrides(options)));
  if (options.json === true) printJson("audit", report);
  else console.log(auditLines(report).join("\n"));
  if (report.breaks.length > 0) process.exitCode = exitCodes.failed;
}

async function head(options: AuditOptions): Promise<void> {
  const { heads, unsealed } = await readHeadsInPlace(
    readConfig(configuredEnvironment(), storeOverrides(options)),
  );
  const shown = heads.map(({ stream, n, h }) => ({ stream, n, h }));
  if (options.json === true) printJson("audit_heads", { heads: shown });
  else for (const { stream, n, h } of shown) console.log(`${stream} ${n} ${h}`);
  if (unsealed.length > 0) {
    throw new CommandError(`Left out, not sealed by this folder's key: ${unsealed.join(", ")}`);
  }
}
