import type { FastifyInstance, FastifyRequest } from "fastify";
import { terminalInputs, type TerminalFrame, type TerminalInput } from "@convoke/protocol";
import type { TerminalUpdate } from "@convoke/tool-host";
import { attachPerson } from "../../../tools/people/attach-person.ts";
import { closeCodes } from "./close-codes.ts";
import { mountPersonSocket, type PersonSocketDeps } from "./mount-person-socket.ts";
import { readInputs, untilRoom } from "./person-socket.ts";
import { readText, refuseNearMisses, type SocketQuery } from "./socket-query.ts";

/** The maximum of unsent bytes; above it the terminal is not read. */
const maxUnsentBytes = 1_000_000;

/**
 * `/sockets/terminals/{conversation_id}?terminal=main`: shows a terminal of the agent live to one person, who may take
 * it over and give it back. A disconnect gives it back.
 */
export function mountTerminalSocket(app: FastifyInstance, deps: PersonSocketDeps): void {
  mountPersonSocket(app, deps, {
    path: "/sockets/terminals/:conversationId",
    name: "terminal socket",
    read: readTerminal,
    serve: async (conversation, { socket, target, caller, frames, output }) => {
      const send = (frame: TerminalFrame): void => socket.send(JSON.stringify(frame));
      const updates = attachPerson(conversation, {
        terminal: target.asked,
        userId: caller.userId,
        inputs: readInputs<TerminalInput>({
          frames,
          validator: deps.validator,
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
    },
  });
}

function readTerminal(request: FastifyRequest): string {
  const query = request.query as SocketQuery;
  refuseNearMisses(query, ["terminal"]);
  return readText(query, "terminal", "the name of a terminal") ?? "main";
}

function toFrame(update: TerminalUpdate): TerminalFrame {
  if (update.type !== "screen" && update.type !== "lent") return update;
  const { isLent, isYours, ...rest } = update;
  return { ...rest, is_lent: isLent, is_yours: isYours };
}
