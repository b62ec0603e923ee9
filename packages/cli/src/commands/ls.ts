import { resolve } from "node:path";
import { spendOf, type ConvokeClient } from "@convoke/client";
import type { ConversationInfo, ConversationExecutionStatus } from "@convoke/protocol";
import { Option, type Command } from "commander";
import { shortIds } from "../api/find-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import type { JsonLine } from "../json-shapes.ts";
import { describeAge, describeCost } from "../print/describe-age.ts";
import { printJson } from "../print/json.ts";
import { printTable } from "../print/table.ts";
import { parseCount } from "./parse-options.ts";

type LsOptions = ApiOptions & {
  readonly status?: ConversationExecutionStatus;
  readonly folder?: string;
  readonly limit: number;
  readonly all?: true;
};

const statuses = ["idle", "running", "paused", "waiting_for_confirmation", "finished", "error", "stuck"];

export function addLs(program: Command): void {
  withServer(
    program
      .command("ls")
      .description("List conversations, the last changed first")
      .addOption(new Option("--status <status>", "only those with this status").choices(statuses))
      .option("--folder <directory>", "only those that work in this folder")
      .option("--limit <number>", "how many at most", parseCount, 20)
      .option("--all", "all of them"),
  ).action(ls);
}

async function ls(options: LsOptions): Promise<void> {
  await using opened = await openApi(options);
  const found: ConversationInfo[] = [];
  for await (const info of conversations(opened.client, options)) {
    if (options.json === true) printJson("ls", toLine(info));
    else found.push(info);
  }
  if (options.json === true) return;
  if (found.length === 0) console.log("There are no such conversations.");
  else printTable(columns, toRows(found, Date.now()));
}

const columns = [
  { heading: "ID" },
  { heading: "STATUS" },
  { heading: "AGE", isRight: true },
  { heading: "COST", isRight: true },
  { heading: "TITLE", isCut: true },
] as const;

/** The list for people. `nowMs` is the time that ages count to. */
export function toRows(found: readonly ConversationInfo[], nowMs: number): string[][] {
  const ids = shortIds(found.map(({ id }) => id));
  return found.map((info, at) => {
    const { title, execution_status: status = "idle" } = info;
    const { cost } = toLine(info);
    const shown = status === "waiting_for_confirmation" ? "waiting" : status;
    return [ids[at]!, shown, describeAge(info.updated_at, nowMs), describeCost(cost), title ?? ""];
  });
}

export function toLine(info: ConversationInfo): JsonLine<"ls"> {
  const { id, title, workspace, stats, execution_status, created_at = "", updated_at = "" } = info;
  const { cost, promptTokens, completionTokens } = spendOf({ stats: stats?.usage_to_metrics ?? {} });
  return {
    id,
    title: title ?? null,
    execution_status: execution_status ?? "idle",
    working_dir: workspace.working_dir,
    created_at,
    updated_at,
    cost,
    tokens: promptTokens + completionTokens,
  };
}

async function* conversations(
  client: ConvokeClient,
  { status, folder, limit, all }: LsOptions,
): AsyncGenerator<ConversationInfo> {
  const max = all === true ? Infinity : limit;
  const workingDir = folder === undefined ? null : resolve(folder);
  let count = 0;
  for (let pageId: string | null | undefined = null; ;) {
    const page = await client.searchConversations({
      sort_order: "UPDATED_AT_DESC",
      limit: 100,
      ...(status === undefined ? {} : { status }),
      ...(pageId ? { page_id: pageId } : {}),
    });
    for (const info of page.items) {
      if (workingDir !== null && info.workspace.working_dir !== workingDir) continue;
      if (count++ >= max) return;
      yield info;
    }
    pageId = page.next_page_id;
    if (!pageId) return;
  }
}
