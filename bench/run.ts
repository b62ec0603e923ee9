import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { BenchResult } from "./bench-result.ts";
import { budgetOf, isWithin, toText, type Budget, type Budgets } from "./budget.ts";
import { describeMachine } from "./machine.ts";
import { writePage } from "./write-page.ts";

/** File of each bench by its name; `npm run bench -- NAME...` runs those, all without a name, and `NAME:PART` one part of those with parts. */
const benches: Readonly<Record<string, string>> = {
  append: "./journal/append.ts",
  page: "./journal/page.ts",
  conversations: "./journal/conversations.ts",
  search: "./journal/search.ts",
  send: "./conversations/send.ts",
  turn: "./conversations/turn.ts",
  "long-run": "./conversations/long-run.ts",
  "many-runs": "./conversations/many-runs.ts",
  tasks: "./conversations/tasks.ts",
  "page-http": "./http/page.ts",
  list: "./http/list.ts",
  create: "./http/create.ts",
  upload: "./http/upload.ts",
  processes: "./http/processes.ts",
  latency: "./sockets/latency.ts",
  "fan-out": "./sockets/fan-out.ts",
  idle: "./sockets/idle.ts",
  "cold-start": "./start/cold-start.ts",
  sandboxes: "./sandboxes/start.ts",
  terminal: "./terminal/terminal.ts",
  browser: "./browser/browser.ts",
  web: "./web/web.ts",
  peers: "./peers/peers.ts",
  cluster: "./cluster/cluster.ts",
  egress: "./egress/egress.ts",
};

/** The exit code: exceeding a budget is no failure; a bench that breaks is one. */
async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { out: { type: "string" }, page: { type: "string" } },
  });
  const unknown = positionals.filter((name) => benches[name.split(":")[0]!] === undefined);
  if (unknown.length > 0) {
    console.error(`no such bench: ${unknown.join(", ")}; there are ${Object.keys(benches).join(", ")}`);
    return 2;
  }
  const budgets = JSON.parse(readFileSync(resolve(import.meta.dirname, "budget.json"), "utf8")) as Budgets;
  const machine = describeMachine();
  console.log(
    Object.entries(machine)
      .map(([name, value]) => `${name}: ${value}`)
      .join("\n"),
  );
  const results: BenchResult[] = [];
  const broken: string[] = [];
  for (const name of positionals.length > 0 ? positionals : Object.keys(benches)) {
    console.log(`\n${name}`);
    const measured = await runBench(name);
    if (measured === null) broken.push(name);
    else {
      for (const result of measured) console.log(toLine(result, budgetOf(result.id, budgets)));
      results.push(...measured);
    }
  }
  if (values.page !== undefined) {
    const command = ["npm run bench --", ...positionals, `--page ${values.page}`].join(" ");
    writePage(values.page, { machine, results, budgets, command });
  }
  if (values.out !== undefined) {
    writeFileSync(
      values.out,
      `${JSON.stringify({ at: new Date().toISOString(), machine, results }, null, 2)}\n`,
    );
  }
  if (broken.length > 0) console.error(`\nbroken: ${broken.join(", ")}`);
  return broken.length > 0 ? 1 : 0;
}

/** Null when the bench broke; it has printed the reason. */
async function runBench(nameAndPart: string): Promise<BenchResult[] | null> {
  const [name = "", ...part] = nameAndPart.split(":");
  const child = fork(resolve(import.meta.dirname, "run-one.ts"), [
    benches[name] ?? "",
    ...(part.length === 0 ? [] : [part.join(":")]),
  ]);
  let results: BenchResult[] | null = null;
  child.on("message", (message) => {
    results = message as BenchResult[];
  });
  const [code] = (await once(child, "exit")) as [number | null];
  return code === 0 ? results : null;
}

function toLine(result: BenchResult, budget: Budget | undefined): string {
  const { id, name, value, unit, baseline, ratio } = result;
  const within = isWithin(result, budget);
  const mark = within === null ? "      " : within ? "ok    " : "beyond";
  return [
    `${mark}  ${id.padEnd(24)} ${toNumber(value).padStart(10)} ${unit.padEnd(11)}`,
    budget === undefined ? "" : `budget ${toText(budget)}`,
    ratio === undefined ? "" : `ratio ${ratio.toFixed(2)}`,
    baseline === undefined ? "" : `beside ${toNumber(baseline.value)} (${baseline.name})`,
    name,
  ]
    .filter((part) => part !== "")
    .join("  ");
}

function toNumber(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

process.exitCode = await main();
