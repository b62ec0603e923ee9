import type { UserSpend } from "@convoke/protocol";
import type { Command } from "commander";
import { shortIds } from "../api/find-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { describeCost } from "../print/describe-age.ts";
import { printJson } from "../print/json.ts";
import { printTable } from "../print/table.ts";
import { parseCount } from "./parse-options.ts";

type StatsOptions = ApiOptions & { readonly days: number; readonly conversations?: true };

export function addStats(program: Command): void {
  withServer(
    program
      .command("stats")
      .description("Show what model calls have cost, by day")
      .option("--days <number>", "how many days up to today (UTC)", parseCount, 30)
      .option("--conversations", "by conversation, the dearest first"),
  ).action(stats);
}

async function stats(options: StatsOptions): Promise<void> {
  await using opened = await openApi(options);
  const spend = await opened.client.call("GET /api/spend", { query: { days: options.days } });
  if (options.conversations === true) printConversations(spend, options);
  else printDays(spend, options);
}

function printDays({ days, cost, max_budget_per_day: max = null }: UserSpend, { json }: StatsOptions): void {
  const byDay = Object.entries(days).toSorted(([one], [other]) => (one < other ? -1 : 1));
  if (json === true) {
    for (const [date, dollars] of byDay) printJson("stats", { date, cost: dollars });
    return;
  }
  const total = ["total", describeCost(cost) || "$0"];
  printTable(
    [{ heading: "DAY" }, { heading: "COST", isRight: true }],
    [...byDay.map(([date, dollars]) => [date, describeCost(dollars)]), total],
  );
  if (max !== null) console.log(`Limit of a day: $${max}`);
}

function printConversations({ conversations }: UserSpend, { json }: StatsOptions): void {
  if (json === true) {
    for (const one of conversations) printJson("stats_conversation", one);
    return;
  }
  const ids = shortIds(conversations.map(({ conversation_id: id }) => id));
  const count = (value: number): string => value.toLocaleString("en-US");
  printTable(
    [
      { heading: "ID" },
      { heading: "COST", isRight: true },
      { heading: "CALLS", isRight: true },
      { heading: "PROMPT TOKENS", isRight: true },
      { heading: "COMPLETION TOKENS", isRight: true },
      { heading: "LAST DAY" },
    ],
    conversations.map((one, at) => [
      ids[at]!,
      describeCost(one.cost),
      count(one.calls),
      count(one.prompt_tokens),
      count(one.completion_tokens),
      one.last_day,
    ]),
  );
}
