import { type EscapeAttempt, isOut } from "./escape-attempt.ts";
import { otherTests } from "./other-tests.ts";

/** What the attempts of one place printed, by name; attempts that are not of this place are missing. */
export type PlaceResults = ReadonlyMap<string, string>;

export const columns = ["Without", "Wall", "Container wall", "Bubblewrap", "Docker", "Podman"] as const;
export type Column = (typeof columns)[number];

const [begin, end] = ["<!-- escapes -->", "<!-- /escapes -->"];
const title = ["No.", "Attempt", ...columns];

/**
 * The page with the table of what each place did. Columns of places that are not on this machine keep what the page says, so that each
 * machine compares what it can run.
 */
export function withEscapeTable(
  page: string,
  attempts: readonly EscapeAttempt[],
  results: Readonly<Partial<Record<Column, PlaceResults>>>,
): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error("The page has no marks for the table of escapes.");
  const before = cellsOf(page.slice(from, to));
  const ran = attempts.map(({ number, name }) => {
    const cells = columns.map((column, index) => {
      const known = results[column];
      if (known === undefined) return before.get(name)?.[index] ?? "not tried";
      return column === "Without" ? bareCell(known.get(name)) : insideCell(known.get(name));
    });
    return { number, row: [String(number ?? ""), name, ...cells] };
  });
  const others = otherTests.map(({ number, name }) => {
    const isOfFolder = number >= 33 && number <= 35;
    const cells = isOfFolder
      ? ["gets out", "told", ...notTheirs]
      : ["gets out", ...columns.slice(1).map(() => "refused")];
    return { number, row: [String(number), name, ...(number === 35 ? ["gets out", ...refusedBy] : cells)] };
  });
  const rows = [...ran, ...others]
    .toSorted((one, other) => (one.number ?? 61) - (other.number ?? 61))
    .map(({ row }) => row);
  return `${page.slice(0, from)}${begin}\n\n${renderRows([title, ...rows])}\n\n${page.slice(to)}`;
}

const notTheirs = ["told", "", "", ""];
const refusedBy = ["refused", "refused", "refused", "refused", "refused"];

function bareCell(outcome: string | undefined): string {
  if (outcome === undefined) return "not tried";
  if (isOut(outcome)) return "gets out";
  return outcome === "absent" ? "not in this kernel" : "**not shown**";
}

function insideCell(outcome: string | undefined): string {
  if (outcome === undefined) return "";
  return isOut(outcome) ? "**gets out**" : "refused";
}

function cellsOf(table: string): ReadonlyMap<string, readonly string[]> {
  const rows = table.split("\n").filter((line) => line.startsWith("|"));
  return new Map(
    rows.map((line) => {
      const cells = line.split("|").slice(1, -1);
      const [, name = "", ...rest] = cells.map((cell) => cell.trim());
      return [name, rest];
    }),
  );
}

/** As the formatter writes tables. */
function renderRows(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  const [head, ...rest] = rows;
  return [line(head!), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rest.map(line)].join(
    "\n",
  );
}
