import type { TerminalInfo } from "@convoke/tool-host";
import type { TerminalList, terminalRoutes } from "@convoke/protocol";
import { openAsked } from "../../../http/asked-conversation.ts";
import { openTerminals } from "../../../tools/people/open-terminals.ts";
import { formatInstant } from "../../../lib/instant.ts";
import type { Handlers } from "../../../http/mount.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** The handlers of `terminalRoutes`. */
export function terminalHandlers({ directory }: FaceDeps) {
  return {
    listTerminals: async (request) => {
      const conversation = await openAsked(directory, request);
      const items = (await openTerminals(conversation)).map(toSummary);
      return { json: { items } satisfies TerminalList };
    },
  } satisfies Handlers<typeof terminalRoutes>;
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
