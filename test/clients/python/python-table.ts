import { renderTable, toRoute } from "../client-table.ts";
import { missingMethods } from "./missing-methods.ts";
import type { SdkReport } from "./python-world.ts";

const begin = "<!-- python: written by npm run test:python -- --write -->";
const end = "<!-- end of python -->";

/** Sockets are opened in a separate thread, outside the caller's methods. */
const sockets: ReadonlyMap<string, readonly string[]> = new Map([
  ["WebSocketCallbackClient.start", ["GET /sockets/events/{conversation_id}"]],
]);

/** Deviations from `missing-methods.ts`, one per line: methods that were not called, that failed, or that work by now. */
export function judge({ surface, worked, failed }: SdkReport): string[] {
  const complaints: string[] = [];
  const methods = new Set(methodsOf(surface));
  for (const method of methods) {
    const reason = missingMethods.get(method);
    const works = worked.includes(method);
    if (reason !== undefined && works) complaints.push(`${method} works, but is listed as missing.`);
    if (reason === undefined && !works) {
      complaints.push(`${method} ${failed[method] ? `failed with ${failed[method]}` : "was not called"}.`);
    }
  }
  for (const method of missingMethods.keys()) {
    if (!methods.has(method))
      complaints.push(`${method} is listed as missing, but the SDK has no such method.`);
  }
  return complaints;
}

/** One line for each public method and property: its requests and its result. */
export function renderPythonTable({ surface, requests, worked }: SdkReport): string {
  const methods = methodsOf(surface);
  const rows = methods.map((method) => {
    const found = [...(requests[method] ?? []), ...(sockets.get(method) ?? [])];
    const asked = [...new Set(found.map(describeRequest))].sort();
    const result = missingMethods.get(method) ?? (worked.includes(method) ? "works" : "fails");
    return [`\`${method}\``, asked.length === 0 ? "none" : asked.join(", "), result];
  });
  const count = methods.filter((method) => missingMethods.has(method)).length;
  return [
    `${methods.length - count} methods and properties work, ${count} do not.`,
    renderTable([["Method", "Requests", "Result"], ...rows]),
  ].join("\n\n");
}

/** The page with a new table between its marks. Throws when the marks are missing. */
export function withPythonTable(page: string, table: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error("The page has no marks for the table of the Python SDK.");
  return `${page.slice(0, from)}${begin}\n\n${table}\n\n${page.slice(to)}`;
}

function methodsOf(surface: SdkReport["surface"]): string[] {
  return Object.entries(surface).flatMap(([name, methods]) => methods.map((method) => `${name}.${method}`));
}

/** Addresses inside a sandbox are those of any server, with a prefix. Conversation ids differ from run to run. */
function describeRequest(request: string): string {
  const plain = request
    .replace(/\/sandboxes\/[^/]+\/(?=api\/|health|server_info)/, "/")
    .replace(/(?<=\/conversations\/)[0-9a-f-]{36}/, "{conversation_id}");
  return `\`${toRoute(plain, [])}\``;
}
