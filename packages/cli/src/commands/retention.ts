import { readFile } from "node:fs/promises";
import type { RetentionPolicy, RetentionRule } from "@convoke/protocol";
import type { Command } from "commander";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { describeUnreadable } from "../describe-unreadable.ts";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { printJson } from "../print/json.ts";
import { printable } from "../print/printable.ts";
import { printTable } from "../print/table.ts";

type RetentionOptions = ApiOptions & { readonly dryRun?: true; readonly set?: string };

export function addRetention(program: Command): void {
  withServer(
    program
      .command("retention")
      .description("Show or set which of your conversations go into the trash by themselves")
      .option("--dry-run", "list what would go now, by which rule, and why; changes nothing, also with --set")
      .option("--set <file>", 'replace your policy by that of a JSON file; {"rules":[]} turns it off'),
  ).action(retention);
}

async function retention({ dryRun, set, ...options }: RetentionOptions): Promise<void> {
  const policy = set === undefined ? null : await readPolicy(set);
  await using opened = await openApi(options);
  const { client } = opened;
  if (dryRun === true) return await showPlan(client, policy, options);
  if (policy !== null) await client.call("PUT /api/retention", { body: policy });
  const stored = await client.call("GET /api/retention");
  if (options.json === true) {
    printJson("retention", stored);
    return;
  }
  const lines = [
    ...linesOf("the server", stored.server_policy),
    ...linesOf("you", stored.policy.rules.length === 0 ? null : stored.policy),
  ];
  console.log(lines.length === 0 ? "Nothing goes by itself." : printable(lines.join("\n")));
}

/** Sizes of all conversations may have to be read. */
const timeoutMs = 600_000;

async function showPlan(
  client: Awaited<ReturnType<typeof openApi>>["client"],
  policy: RetentionPolicy | null,
  { json }: ApiOptions,
): Promise<void> {
  const { matches, is_complete: isComplete } =
    policy === null
      ? await client.call("GET /api/retention/plan", { timeoutMs })
      : await client.call("POST /api/retention/plan", { body: policy, timeoutMs });
  if (json === true) for (const match of matches) printJson("retention_match", match);
  else if (matches.length === 0) console.log("Nothing would go.");
  else
    printTable(
      [{}, {}, { isCut: true }, { isCut: true }],
      matches.map(({ conversation_id: id, title, rule, why, stays_because: stays }) => [
        id,
        stays === null ? "goes" : `stays, ${stays}`,
        `${rule}: ${why}`,
        title ?? "",
      ]),
    );
  if (!isComplete) console.error("There are more than are shown.");
}

async function readPolicy(path: string): Promise<RetentionPolicy> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as RetentionPolicy;
  } catch (error) {
    throw new CommandError(describeUnreadable(path, error), exitCodes.usage);
  }
}

function linesOf(who: string, policy: RetentionPolicy | null): string[] {
  if (policy === null) return [];
  const { rules, trash_days: days } = policy;
  const trash = days === undefined ? "" : `, restorable for ${days} days`;
  return [`Rules of ${who}${trash}:`, ...rules.map((rule) => `  ${rule.name}: ${conditionsOf(rule)}`)];
}

function conditionsOf({
  older_than_days: older,
  idle_days: idle,
  larger_than_mib: larger,
  tag,
}: RetentionRule): string {
  return [
    ...(older === undefined ? [] : [`older than ${older} days`]),
    ...(idle === undefined ? [] : [`unused for ${idle} days`]),
    ...(larger === undefined ? [] : [`larger than ${larger} MiB`]),
    ...(tag === undefined
      ? []
      : [`with the tag ${tag.key}${tag.value === undefined ? "" : `=${tag.value}`}`]),
  ].join(", ");
}
