import type { TerminalList } from "@convoke/protocol";
import type { TerminalInfo } from "@convoke/tool-host";
import type { Directory } from "../../../directory/directory.ts";
import { openTerminals } from "../../../tools/people/open-terminals.ts";
import type { RouteHandler } from "../../../http/mount.ts";
import { formatInstant } from "../../../lib/instant.ts";
import { conversationIdOf } from "../../../http/conversation-id.ts";

/** The handlers of `terminalRoutes`. */
export function terminalHandlers({ directory }: { readonly directory: Pick<Directory, "open"> }) {
  return {
    listTerminals: async (request) => {
      const conversation = await directory.open(request.caller, conversationIdOf(request));
      const items = (await openTerminals(conversation)).map(toSummary);
      return { json: { items } satisfies TerminalList };
    },
  } satisfies Record<string, RouteHandler>;
}

function toSummary({ name, command, startedAtMs, isRunning, exitCode, isLent }: TerminalInfo) {
  return {
    name,
    command,
    started_at: startedAtMs === null ? null : formatInstant(startedAtMs * 1_000),
    is_running: isRunning,
    exit_code: exitCode,
    is_lent: isLent,
  };
}
