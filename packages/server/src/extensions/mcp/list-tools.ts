import type { Client } from "@modelcontextprotocol/client";
import { isBounded } from "../../lib/is-bounded.ts";

/** A usable tool as its server listed it. */
export type AnnouncedTool = Readonly<Record<string, unknown>> & { readonly name: string };

export type ListingClient = Pick<Client, "request">;

/** More than any model accepts; the rest is left out. */
const maxTools = 500;
const maxPages = 100;
/** Of one tool; a larger one is left out. */
const toolBounds = { maxValues: 50_000, maxLevels: 64, maxChars: 1024 * 1024 };

/** Lists every tool of a server, page by page; a malformed tool is skipped. */
export async function listTools(client: ListingClient, signal: AbortSignal): Promise<AnnouncedTool[]> {
  const tools = new Map<string, AnnouncedTool>();
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
      if (cursor === "" && (await isRefusal(error))) break;
      throw error;
    }
    const { tools: listed, nextCursor } = result as { tools?: unknown; nextCursor?: unknown };
    if (!Array.isArray(listed)) throw new Error("The MCP server did not answer with a list of tools.");
    for (const tool of listed as unknown[]) {
      if (!isTool(tool) || tools.has(tool.name)) continue;
      if (tools.size >= maxTools) return [...tools.values()];
      tools.set(tool.name, tool);
    }
    if (typeof nextCursor !== "string" || cursors.has(nextCursor)) break;
    cursor = nextCursor;
    cursors.add(cursor);
  }
  return [...tools.values()];
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
  return (
    typeof value === "object" &&
    value !== null &&
    "name" in value &&
    typeof value.name === "string" &&
    value.name !== "" &&
    isBounded(value, toolBounds)
  );
}
