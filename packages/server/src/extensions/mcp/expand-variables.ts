import type { McpServer } from "./mcp-server.ts";
import { mapTexts } from "../../lib/map-texts.ts";

// A default ends where the next reference begins: otherwise each of many openings would be read to the end of a text of
// any length.
const variable = /\$\{([A-Za-z_]\w*)(?::-((?:[^}$]|\$(?!\{))*))?\}/g;
const reference = /\$\{([A-Za-z_]\w*)(?::-(?:[^}$]|\$(?!\{))*)?\}|\$([A-Za-z_]\w*)/g;

/** True when some text of a server refers to a variable. */
export function hasVariables(server: McpServer): boolean {
  return JSON.stringify(server).search(variable) !== -1;
}

/**
 * A server with `${NAME}` and `${NAME:-default}` replaced in all its texts. Values are the conversation's secrets; the
 * server's own environment is never used. Unknown references stay unchanged.
 */
export function expandServer(server: McpServer, values: ReadonlyMap<string, string>): McpServer {
  const expand = (text: string): string =>
    text.replaceAll(
      variable,
      (whole, name: string, fallback?: string) => values.get(name) ?? fallback ?? whole,
    );
  return { ...(mapTexts(server, expand) as McpServer), name: server.name };
}

/** Arguments with `$NAME`, `${NAME}` and `${NAME:-default}` replaced where NAME is a secret of the conversation. */
export function expandSecrets(part: unknown, secrets: ReadonlyMap<string, string>): unknown {
  return mapTexts(part, (text) =>
    text.replaceAll(
      reference,
      (whole, braced?: string, bare?: string) => secrets.get(braced ?? bare ?? "") ?? whole,
    ),
  );
}
