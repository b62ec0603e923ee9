import { posix } from "node:path";
import { createBashId, type BashQuery } from "@convoke/tool-host";
import type { ExecuteBashRequest, machineRoutes } from "@convoke/protocol";
import type { Handlers, RequestOf } from "../../../http/mount.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { parseInstant } from "../../../lib/instant.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import type { WorkspaceAccess } from "../../../workspaces/workspace-access.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { onMachine } from "../files/workspace-handler.ts";

/** Commands beside the agent. */
export function bashHandlers({ openAccess }: Pick<FaceDeps, "openAccess">) {
  return {
    searchBashEvents: onMachine(openAccess, async ({ bash }, request) => {
      const { items, nextPageId } = await bash.search(readQuery(request));
      return { text: `{"items":[${items.join(",")}],"next_page_id":${JSON.stringify(nextPageId)}}` };
    }),
    getBashEvents: onMachine(openAccess, async ({ bash }, { caller, body, query }) => {
      const ids = body ?? query.ids ?? [];
      if (ids.length > maxIds) {
        throw invalidField(["body"], `Ask for at most ${maxIds} events at a time.`, "too_long");
      }
      const events = await bash.get(caller.userId, ids.map(toBashId));
      return { text: `[${events.map((event) => event ?? "null").join(",")}]` };
    }),
    getBashEvent: onMachine(openAccess, async ({ bash }, { caller, params }) => {
      const [event] = await bash.get(caller.userId, [toBashId(params.event_id)]);
      if (typeof event === "string") return { text: event };
      throw new Fault("missing", "bash_event_not_found", `There is no bash event ${params.event_id}.`);
    }),
    clearBashEvents: onMachine(openAccess, async ({ bash }, { caller }) => ({
      json: { cleared_count: await bash.clear(caller.userId) },
    })),
    startBashCommand: onMachine(openAccess, async (access, { caller, body }) => ({
      text: (await startBash(access, caller.userId, body)).json,
    })),
    stopBashCommand: onMachine(openAccess, async ({ bash }, { caller, params }) => {
      const id = params.command_id;
      if (await bash.stop(caller.userId, toBashId(id))) return { json: { success: true } };
      throw new Fault("missing", "bash_event_not_found", `There is no bash command ${id}.`);
    }),
    executeBashCommand: onMachine(openAccess, async (access, { caller, body, signal }) => {
      const { id } = await startBash(access, caller.userId, body);
      const output = await access.bash.result(caller.userId, id, signal);
      if (output !== null) return { text: output };
      // The record was cleared while the command ran.
      throw new Fault("missing", "bash_event_not_found", "The record of this command was cleared.");
    }),
  } satisfies Partial<Handlers<typeof machineRoutes>>;
}

/** Starts a command for a route or a socket; resolves when it is recorded. */
export async function startBash(
  access: WorkspaceAccess,
  owner: string,
  { command, cwd, timeout = 300 }: ExecuteBashRequest,
): Promise<{ readonly id: string; readonly json: string }> {
  if (command.includes("\0")) throw invalidField(["body", "command"], "A command may not hold NUL.");
  if (cwd?.includes("\0") === true) throw invalidField(["body", "cwd"], "A directory may not hold NUL.");
  if (timeout < 1 || timeout > maxSeconds) {
    throw invalidField(["body", "timeout"], `Send a number of seconds from 1 to ${maxSeconds}.`);
  }
  if (Buffer.byteLength(command) > maxCommandBytes) {
    throw invalidField(
      ["body", "command"],
      `Send at most ${maxCommandBytes} bytes; put a longer script into a file.`,
      "string_too_long",
    );
  }
  const id = createBashId();
  const json = await access.bash.start({
    id,
    owner,
    command,
    cwd: posix.resolve(access.workingDir, cwd ?? "."),
    timeoutSeconds: timeout,
    secrets: await access.secrets(),
  });
  return { id, json };
}

const maxIds = 100;
/** A week. */
const maxSeconds = 604_800;
/** The most that the kernel takes as one argument. */
const maxCommandBytes = 128 * 1024 - 1;

/** Ids of this log have no dashes. */
function toBashId(text: string): string {
  return normalizeUuid(text)?.replaceAll("-", "") ?? text;
}

function readQuery({
  caller,
  query: search,
}: RequestOf<(typeof machineRoutes)["searchBashEvents"]>): BashQuery {
  const from = readInstant(search.timestamp__gte, "timestamp__gte");
  const before = readInstant(search.timestamp__lt, "timestamp__lt");
  return {
    owner: caller.userId,
    isDescending: search.sort_order === "TIMESTAMP_DESC",
    limit: search.limit ?? 100,
    kind: search.kind__eq ?? undefined,
    commandId: search.command_id__eq == null ? undefined : toBashId(search.command_id__eq),
    fromMicros: from ?? undefined,
    beforeMicros: before ?? undefined,
    orderAbove: search.order__gt ?? undefined,
    pageId: search.page_id == null ? undefined : toBashId(search.page_id),
  };
}

function readInstant(text: string | null | undefined, name: string): number | null {
  if (text == null) return null;
  const micros = parseInstant(text);
  if (micros === null) throw invalidField(["query", name], "This is not a date-time.", "datetime_parsing");
  return micros;
}
