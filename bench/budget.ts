import type { BenchResult } from "./bench-result.ts";

/** A limit on a result's value, or on its ratio to the baseline. */
export type Budget = {
  readonly of: "value" | "ratio";
  readonly atMost?: number;
  readonly atLeast?: number;
};

/** By the id of the result; `B6.*` applies to every id below B6 without an entry of its own. */
export type Budgets = Readonly<Record<string, Budget>>;

export function budgetOf(id: string, budgets: Budgets): Budget | undefined {
  if (budgets[id] !== undefined) return budgets[id];
  const [family = ""] = id.split(".");
  return id === family ? undefined : budgets[`${family}.*`];
}

/** Null when the result has no budget, or cannot be measured here. */
export function isWithin(result: BenchResult, budget: Budget | undefined): boolean | null {
  const measured = budget?.of === "ratio" ? result.ratio : result.value;
  if (budget === undefined || measured === undefined || Number.isNaN(measured)) return null;
  return measured <= (budget.atMost ?? Infinity) && measured >= (budget.atLeast ?? -Infinity);
}

export function toText({ of, atMost, atLeast }: Budget): string {
  const bound = atMost === undefined ? `>= ${atLeast}` : `<= ${atMost}`;
  return of === "ratio" ? `ratio ${bound}` : bound;
}
