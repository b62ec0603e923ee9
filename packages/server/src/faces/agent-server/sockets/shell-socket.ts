import type { FastifyInstance, FastifyRequest } from "fastify";
import { shellInputs, type ShellFrame } from "@convoke/protocol";
import type { ShellInput, TerminalUpdate } from "@convoke/tool-host";
import type { FaceDeps } from "../../face-deps.ts";
import { openShells, type ShellAccessDeps } from "../shells/shell-routes.ts";
import { closeCodes } from "./close-codes.ts";
import { mountSocket, type Admitted, type SocketTarget } from "./mount-socket.ts";
import { ifOpen, readConversationId, readInputs, untilRoom, refusedFrame } from "./person-socket.ts";
import { badQuery, readText, refuseNearMisses, type SocketQuery } from "./socket-query.ts";
import type { PersonSocketDeps } from "./mount-person-socket.ts";

export type ShellSocketDeps = ShellAccessDeps & Omit<PersonSocketDeps, "scopeOf"> & Pick<FaceDeps, "keys">;

type Target = SocketTarget & { readonly id: string; readonly shell: string };

/**
 * `/sockets/shells/{conversation_id}?shell=...`: a person's own shell; its past output is sent first. It survives the
 * socket.
 */
export function mountShellSocket(app: FastifyInstance, deps: ShellSocketDeps): void {
  mountSocket<Target>(app, {
    path: "/sockets/shells/:conversationId",
    name: "shell socket",
    logger: deps.logger,
    times: deps.times,
    readTarget: (request) => ({
      keys: deps.keys,
      id: readConversationId(request),
      shell: readShell(request),
    }),
    owner: {
      peers: deps.peers,
      find: (caller, { id }) => deps.directory.open(caller, id),
    },
    refusal: refusedFrame,
    scope: "outside",
    serve: (admitted) => serve(admitted, deps),
  });
}

function readShell(request: FastifyRequest): string {
  const query = request.query as SocketQuery;
  refuseNearMisses(query, ["shell"]);
  const shell = readText(query, "shell", "the id of a shell");
  if (shell === null) throw badQuery("shell", "Add shell: the id of a shell.");
  return shell;
}

/** The maximum of unsent bytes; above it the shell is not read. */
const maxUnsentBytes = 1_000_000;

async function serve(
  { socket, target, caller, frames, output }: Admitted<Target>,
  deps: ShellSocketDeps,
): Promise<void> {
  const opened = await ifOpen(openShells(deps, caller, target.id), ["missing", "refused"]);
  const shells = opened?.shells;
  if (shells?.find(target.shell) == null) {
    socket.close(closeCodes.notFound, "Shell not found");
    return;
  }
  const send = (frame: ShellFrame): void => socket.send(JSON.stringify(frame));
  const inputs = readInputs<ShellInput>({
    frames,
    validator: deps.validator,
    schemas: shellInputs,
    refuse: (reason) => send({ type: "refused", reason }),
  });
  for await (const update of shells.attach(target.shell, inputs, output.closed)) {
    if (!(await untilRoom(socket, output, maxUnsentBytes))) return;
    const frame = toFrame(update);
    if (frame !== null) send(frame);
  }
  if (output.closed.aborted) return;
  send({ type: "ended", exit_code: shells.find(target.shell)?.exitCode ?? null });
  socket.close(closeCodes.leaving, "The shell has ended");
}

/** A shell cannot be taken or given back: everybody attached to it can write. */
function toFrame(update: TerminalUpdate): ShellFrame | null {
  if (update.type === "lent") return null;
  if (update.type !== "screen") return update;
  const { text, columns, rows } = update;
  return { type: "screen", text, columns, rows };
}
