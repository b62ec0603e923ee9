import { inspectConversation, readConfig, type Inspection } from "@convoke/server/inspect";
import type { Command } from "commander";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { inspectionSections } from "../print/inspection-sections.ts";
import { createPaint } from "../print/paint.ts";
import { parseEvents, parseSeconds } from "./parse-options.ts";
import { storeOverrides, withStore, type StoreOptions } from "./store-options.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { printJson } from "../print/json.ts";

type InspectOptions = StoreOptions & {
  readonly events: number;
  readonly timeout: number;
  readonly json?: true;
};

/** `convoke inspect`: shows what the store has of one conversation, for debugging. */
export function addInspect(program: Command): void {
  const command = program
    .command("inspect <conversation>")
    .exitOverride()
    .description(
      "Show the stored state of a conversation: row, lease, state, open actions, store, newest events; also while a server runs",
    );
  withStore(command)
    .option("--events <number>", "how many of the newest events to show, up to 10000", parseEvents, 10)
    .option("--timeout <seconds>", "how long to wait for a store that is locked", parseSeconds, 30)
    .option("--json", "print JSON")
    .action(inspect);
}

async function inspect(
  conversation: string,
  { events, timeout, json, ...options }: InspectOptions,
): Promise<void> {
  const { dataDir, database } = readConfig(configuredEnvironment(), storeOverrides(options));
  const inspected = await inspectConversation({
    dataDir,
    database,
    conversation,
    events,
    wait: {
      timeoutMs: timeout * 1_000,
      onWait: (path) => console.error(`Waiting for ${path}, which another process keeps locked (--timeout).`),
    },
  });
  const place = database === null ? dataDir : "the database";
  if (inspected.type === "missing")
    throw new CommandError(
      `There is no conversation ${conversation} in ${place}. Give its id or the beginning of it; convoke ls lists them.`,
    );
  if (inspected.type === "ambiguous")
    throw new CommandError(
      `Several conversations in ${place} begin with ${conversation}: ${inspected.ids.join(", ")}. Give more of the id.`,
      exitCodes.usage,
    );
  const { inspection } = inspected;
  if (json === true) printJson("inspection", inspection, 2);
  else print(inspection);
  if (inspection.store.damages.length > 0) process.exitCode = exitCodes.failed;
}

function print(inspection: Inspection): void {
  const paint = createPaint(process.stdout);
  const sections = inspectionSections(inspection).map(({ heading, lines }) =>
    [paint.bold(heading), ...lines].join("\n"),
  );
  console.log(sections.join("\n\n"));
}
