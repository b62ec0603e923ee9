import type { FastifyInstance, FastifyRequest } from "fastify";
import { terminalInputs, type TerminalFrame, type TerminalInput } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import type { TerminalUpdate } from "@convoke/tool-host";
import { attachPerson } from "../../../tools/people/attach-person.ts";
import type { Directory } from "../../../directory/directory.ts";
import type { KeyRing } from "../../../http/auth.ts";
import type { Peers } from "../../../cluster/peers.ts";
import type { Logger } from "../../../lib/logger.ts";
import { closeCodes } from "./close-codes.ts";
import { mountSocket, type Admitted, type SocketTarget } from "./mount-socket.ts";
import { openIfThere, readConversationId, readInputs, untilRoom, refusedFrame } from "./person-socket.ts";
import { readText, refuseNearMisses, type SocketQuery } from "./socket-query.ts";
import type { SocketTimes } from "./socket-times.ts";

/** Dependencies of the sockets that attach a person to an agent's terminal, browser or shell. */
export type PersonSocketDeps = {
  readonly scopeOf: (request: FastifyRequest) => {
    readonly directory: Pick<Directory, "open">;
    readonly keys: KeyRing;
  };
  readonly validator: Validator;
  readonly logger: Logger;
  readonly times: SocketTimes;
  /** Reaches the other nodes on the store, one of which may own the conversation. */
  readonly peers: Peers;
};

type Target = SocketTarget & {
  readonly directory: Pick<Directory, "open">;
  readonly id: string;
  readonly terminal: string;
};

/**
 * `/sockets/terminals/{conversation_id}?terminal=main`: shows a terminal of the agent live to one person, who may take
 * it over and give it back. A disconnect gives it back.
 */
export function mountTerminalSocket(app: FastifyInstance, deps: PersonSocketDeps): void {
  mountSocket<Target>(app, {
    path: "/sockets/terminals/:conversationId",
    name: "terminal socket",
    ...deps,
    readTarget: (request) => ({
      ...deps.scopeOf(request),
      id: readConversationId(request),
      terminal: readTerminal(request),
    }),
    owner: {
      peers: deps.peers,
      find: (caller, { directory, id }) => directory.open(caller, id),
    },
    refusal: refusedFrame,
    serve: (admitted) => serve(admitted, deps.validator),
  });
}

function readTerminal(request: FastifyRequest): string {
  const query = request.query as SocketQuery;
  refuseNearMisses(query, ["terminal"]);
  return readText(query, "terminal", "the name of a terminal") ?? "main";
}

/** The maximum of unsent bytes; above it the terminal is not read. */
const maxUnsentBytes = 1_000_000;

async function serve(
  { socket, target, caller, frames, output }: Admitted<Target>,
  validator: Validator,
): Promise<void> {
  const conversation = await openIfThere(target.directory, caller, target.id);
  if (conversation === null) {
    socket.close(closeCodes.notFound, "Conversation not found");
    return;
  }
  const send = (frame: TerminalFrame): void => socket.send(JSON.stringify(frame));
  const updates = attachPerson(conversation, {
    terminal: target.terminal,
    userId: caller.userId,
    inputs: readInputs<TerminalInput>({
      frames,
      validator,
      schemas: terminalInputs,
      refuse: (reason) => send({ type: "refused", reason }),
    }),
    signal: output.closed,
  });
  for await (const update of updates) {
    if (!(await untilRoom(socket, output, maxUnsentBytes))) return;
    send(toFrame(update));
  }
  socket.close(closeCodes.leaving, "The terminal is closed");
}

function toFrame(update: TerminalUpdate): TerminalFrame {
  if (update.type !== "screen" && update.type !== "lent") return update;
  const { isLent, isYours, ...rest } = update;
  return { ...rest, is_lent: isLent, is_yours: isYours };
}
