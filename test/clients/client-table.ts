import * as protocol from "@convoke/protocol";
import type { Outcome } from "./call-record.ts";
import { localClasses, refusedCalls } from "./refused-calls.ts";

type Route = { readonly method: string; readonly path: string };

const begin = "<!-- clients: written by test/clients/write-client-table.ts -->";
const end = "<!-- end of clients -->";

/** Every served address with its method; sockets count as GET. */
export const servedRoutes: readonly Route[] = [
  ...Object.entries(protocol)
    .filter(([name]) => name.endsWith("Routes"))
    .flatMap(([, table]) => Object.values(table as Record<string, Route>)),
  { method: "GET", path: "/sockets/events/{conversation_id}" },
  { method: "GET", path: "/sockets/bash-events" },
];

/** The page with a new table between its marks. Throws when the marks are missing. */
export function withClientTable(page: string, table: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error("The page has no marks for the table of clients.");
  return `${page.slice(0, from)}${begin}\n\n${table}\n\n${page.slice(to)}`;
}

/** One line for each public method: its requests and its result. */
export function renderClientTable(
  surface: ReadonlyMap<string, readonly string[]>,
  outcomes: ReadonlyMap<string, Outcome>,
  paths: readonly string[],
): string {
  const rows = [["Method", "Requests", "Result"]];
  const counts = { works: 0, refused: 0 };
  for (const [name, methods] of surface) {
    if (localClasses[name] !== undefined) continue;
    for (const method of methods) {
      const key = `${name}.${method}`;
      const outcome = outcomes.get(key);
      const refusal = refusedCalls.get(key);
      counts[refusal === undefined ? "works" : "refused"] += 1;
      const requests = [
        ...new Set([...(outcome?.requests ?? [])].map((text) => toRoute(text, paths))),
      ].sort();
      rows.push([
        `\`${key}\``,
        requests.length === 0 ? "none" : requests.map((text) => `\`${text}\``).join(", "),
        refusal === undefined ? "works" : `${refusal.status || "fails"}: ${refusal.reason}`,
      ]);
    }
  }
  const local = Object.entries(localClasses).map(([name, what]) => `\`${name}\` (${what})`);
  return [
    `${counts.works} methods and accessors work, ${counts.refused} do not.`,
    renderTable(rows),
    `Without a server work: ${local.join(", ")}.`,
  ].join("\n\n");
}

/** `METHOD /template`: our template if it is served, else the client's own. */
export function toRoute(request: string, paths: readonly string[]): string {
  const [method, path] = request.split(" ") as [string, string];
  const served = servedRoutes.filter((route) => route.method === method && matches(route.path, path));
  const template =
    best(served.map((route) => route.path)) ?? best(paths.filter((found) => matches(found, path))) ?? path;
  return `${method} ${template}`;
}

/** The one with the fewest parameters. */
function best(templates: readonly string[]): string | undefined {
  const count = (template: string): number => template.split("{").length;
  return [...templates].sort((a, b) => count(a) - count(b))[0];
}

function matches(template: string, path: string): boolean {
  const pattern = template.replaceAll(/[.]/g, "\\.").replaceAll(/\{\w*\}/g, "[^/]+");
  return new RegExp(`^${pattern}$`).test(path);
}

/** Markdown with columns as wide as their longest cell; the first row is the head. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [line(rows[0]!), rule, ...rows.slice(1).map(line)].join("\n");
}
