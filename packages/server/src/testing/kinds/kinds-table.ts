import type { Event } from "@convoke/protocol";
import { families, toolRows, type Family, type Kinds } from "./found-kinds.ts";

const begin = "<!-- kinds: written by every-kind.int.test.ts -->";
const end = "<!-- end of kinds -->";

const titles: Readonly<Record<Family, string>> = {
  Event: "events",
  Action: "actions",
  Observation: "observations",
  ToolDefinition: "tool definitions",
};

/** The page with a new table between its marks. Throws when the marks are missing. */
export function withKindsTable(page: string, table: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error("The page has no marks for the table of kinds.");
  return `${page.slice(0, from)}${begin}\n\n${table}\n\n${page.slice(to)}`;
}

/** How many kinds of each family are in the log and which are not, and one line for each tool that was called. */
export function renderKindsTable(log: readonly Event[], found: Kinds, contract: Kinds): string {
  const counts = families.map((family) => {
    const missing = [...contract[family]].filter((kind) => !found[family].has(kind));
    const all = contract[family].size;
    return [titles[family], `${all - missing.length} of ${all}`, missing.map(code).join(", ") || "none"];
  });
  const tools = toolRows(log).map((row) => row.map(code));
  return [
    renderTable([["Kinds of", "In the log", "Not in the log"], ...counts]),
    renderTable([["Tool", "Definition", "Action", "Observation"], ...tools]),
    `Events: ${[...found.Event].toSorted().map(code).join(", ")}.`,
  ].join("\n\n");
}

function code(text: string): string {
  return `\`${text}\``;
}

function renderTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  const [head, ...body] = rows;
  return [line(head!), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}
