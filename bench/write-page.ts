import { readFileSync, writeFileSync } from "node:fs";
import type { BenchResult } from "./bench-result.ts";
import { budgetOf, isWithin, toText, type Budgets } from "./budget.ts";
import type { Machine } from "./machine.ts";

export type Measured = {
  readonly machine: Machine;
  readonly results: readonly BenchResult[];
  readonly budgets: Budgets;
  /** The command as a reader would type it. */
  readonly command: string;
};

/** Replaces everything below `## Numbers` of a page with the current measurements. */
export function writePage(file: string, { machine, results, budgets, command }: Measured): void {
  const [head = ""] = readFileSync(file, "utf8").split(heading, 1);
  const { processor, cores, memoryGigabytes, system, node, load } = machine;
  const missed = results.filter((result) => isWithin(result, budgetOf(result.id, budgets)) === false);
  const intro =
    `${new Date().toISOString().slice(0, 10)}, \`${command}\`, ${processor}, ${cores} cores, ${memoryGigabytes} GB, ` +
    `${system}, Node ${node.slice(1)}, load ${load} at the start. Beyond their budgets: ` +
    `${missed.length === 0 ? "none" : missed.map(({ id }) => id).join(", ")}.`;
  const rows = results.map((result) => {
    const budget = budgetOf(result.id, budgets);
    const beside =
      result.baseline === undefined ? "" : `${toNumber(result.baseline.value)} (${result.baseline.name})`;
    const cells = [
      result.id,
      result.name,
      `${toNumber(result.value)} ${result.unit}`,
      beside,
      result.ratio === undefined ? "" : result.ratio.toFixed(2),
      budget === undefined ? "" : toText(budget),
      { true: "yes", false: "no", null: "" }[String(isWithin(result, budget))],
    ];
    return `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  });
  const table = [
    "| Id | What | Value | Beside | Ratio | Budget | Within |",
    "| --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
  ];
  writeFileSync(file, `${head}${heading}\n\n${intro}\n\n${table.join("\n")}\n`);
}

const heading = "## Numbers";

function toNumber(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}
