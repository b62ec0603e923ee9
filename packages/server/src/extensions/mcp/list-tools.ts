import type { Client } from "@modelcontextprotocol/client";
import { isBounded } from "../../lib/is-bounded.ts";
import { objectOr } from "../../lib/json-object.ts";

/** A usable tool as its server listed it. */
export type AnnouncedTool = Readonly<Record<string, unknown>> & { readonly name: string };

export type ListingClient = Pick<Client, "request">;

export type ListedTools = {
  readonly tools: readonly AnnouncedTool[];
  /** Why tools of the list cannot be used, in sentences; null when all can. */
  readonly omitted: string | null;
};

/** More than any model accepts; the rest is left out. */
const maxTools = 500;
const maxPages = 100;
/** Of malformed tools in a message. */
const maxNamed = 5;
/** Of one tool; a larger one is left out. */
const toolBounds = { maxValues: 50_000, maxLevels: 64, maxChars: 1024 * 1024 };

/** Lists every tool of a server, page by page, without malformed ones. */
export async function listTools(client: ListingClient, signal: AbortSignal): Promise<ListedTools> {
  const tools = new Map<string, AnnouncedTool>();
  const malformed = new Set<string>();
  const list = (cut: string | null): ListedTools => ({
    tools: [...tools.values()],
    omitted: describeOmitted([...malformed], cut),
  });
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const params = cursor === undefined ? {} : { cursor };
    let result: unknown;
    try {
      result = await client.request({ method: "tools/list", params }, anything, {
        signal,
        timeout: 2 ** 31 - 1,
      });
    } catch (error) {
      // An empty cursor is a cursor; servers that mean the end by it refuse it.
      if (cursor === "" && (await isRefusal(error))) return list(null);
      throw error;
    }
    const { tools: listed, nextCursor } = result as { tools?: unknown; nextCursor?: unknown };
    if (!Array.isArray(listed)) throw new Error("The MCP server did not answer with a list of tools.");
    for (const tool of listed as unknown[]) {
      if (!isTool(tool)) malformed.add(nameOf(tool));
      else if (tools.has(tool.name)) continue;
      else if (tools.size >= maxTools)
        return list(`It lists more than ${maxTools} tools; those after the first ${maxTools} are left out.`);
      else tools.set(tool.name, tool);
    }
    if (typeof nextCursor !== "string" || cursors.has(nextCursor)) return list(null);
    cursor = nextCursor;
    cursors.add(cursor);
  }
  return list(`Its list has more than ${maxPages} pages; tools after those are left out.`);
}

function describeOmitted(malformed: readonly string[], cut: string | null): string | null {
  const named = malformed.slice(0, maxNamed).join(", ");
  const others = malformed.length > maxNamed ? ` and ${malformed.length - maxNamed} more` : "";
  const sentences = [
    malformed.length > 0 && `These have no name or are too large: ${named}${others}.`,
    cut,
  ].filter((sentence) => typeof sentence === "string");
  return sentences.length === 0 ? null : sentences.join(" ");
}

function nameOf(tool: unknown): string {
  const { name } = objectOr(tool);
  return typeof name === "string" && name !== "" ? name.slice(0, 100) : "a tool without a name";
}

async function isRefusal(error: unknown): Promise<boolean> {
  // Loaded by now; a static import would load it at every start of the server.
  const { ProtocolError, SdkHttpError } = await import("@modelcontextprotocol/client");
  return error instanceof ProtocolError || error instanceof SdkHttpError;
}

/** Takes every answer as it is. */
export const anything = {
  "~standard": { version: 1 as const, vendor: "convoke", validate: (value: unknown) => ({ value }) },
};

function isTool(value: unknown): value is AnnouncedTool {
  const { name } = objectOr(value);
  return typeof name === "string" && name !== "" && isBounded(value, toolBounds);
}
