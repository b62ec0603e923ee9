import type { FastifyInstance } from "fastify";
import { browserInputs, type BrowserFrame, type BrowserInput } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import { NewestUpdates, type BrowserUpdate } from "@convoke/tool-host";
import { attachBrowser } from "../../../tools/people/attach-browser.ts";
import type { Directory } from "../../../directory/directory.ts";
import { closeCodes } from "./close-codes.ts";
import { mountSocket, type Admitted, type SocketTarget } from "./mount-socket.ts";
import { openIfThere, readConversationId, readInputs, untilRoom, refusedFrame } from "./person-socket.ts";
import { refuseNearMisses, type SocketQuery } from "./socket-query.ts";
import type { PersonSocketDeps } from "./terminal-socket.ts";

type Target = SocketTarget & { readonly directory: Pick<Directory, "open">; readonly id: string };

/**
 * `/sockets/browsers/{conversation_id}`: shows the agent's browser live to one person, who may take it over and give it
 * back. It never opens a browser. A disconnect gives it back.
 */
export function mountBrowserSocket(app: FastifyInstance, deps: PersonSocketDeps): void {
  mountSocket<Target>(app, {
    path: "/sockets/browsers/:conversationId",
    name: "browser socket",
    ...deps,
    readTarget: (request) => {
      refuseNearMisses(request.query as SocketQuery, []);
      return { ...deps.scopeOf(request), id: readConversationId(request) };
    },
    owner: {
      peers: deps.peers,
      find: (caller, { directory, id }) => directory.open(caller, id),
    },
    refusal: refusedFrame,
    serve: (admitted) => serve(admitted, deps.validator),
  });
}

/** At most one picture is in flight, so that a slow client sees the present state. */
const maxUnsentBytes = 64_000;

async function serve(
  { socket, target, caller, frames, output }: Admitted<Target>,
  validator: Validator,
): Promise<void> {
  const conversation = await openIfThere(target.directory, caller, target.id);
  if (conversation === null) {
    socket.close(closeCodes.notFound, "Conversation not found");
    return;
  }
  const waiting = new NewestUpdates();
  const refuse = (reason: string): void => waiting.offer({ type: "refused", reason });
  const updates = attachBrowser(conversation, {
    userId: caller.userId,
    inputs: readInputs<BrowserInput>({ frames, validator, schemas: browserInputs, refuse }),
    signal: output.closed,
    refuse,
  });
  const reading = read(updates, waiting);
  for (let update = await waiting.next(); update !== null; update = await waiting.next()) {
    if (!(await untilRoom(socket, output, maxUnsentBytes))) break;
    socket.send(JSON.stringify(toFrame(update)));
  }
  // Runs to its end also after a disconnect, so that the person's last actions are carried out.
  await reading;
  socket.close(closeCodes.leaving, "The browser's tools are closed");
}

async function read(updates: AsyncIterable<BrowserUpdate>, waiting: NewestUpdates): Promise<void> {
  try {
    for await (const update of updates) waiting.offer(update);
  } finally {
    waiting.end();
  }
}

function toFrame(update: BrowserUpdate): BrowserFrame {
  switch (update.type) {
    case "state": {
      const tabs = update.tabs.map(({ isFront, ...tab }) => ({ ...tab, is_front: isFront }));
      return { type: "state", is_open: update.isOpen, tabs };
    }
    case "lent":
      return { type: "lent", is_lent: update.isLent, is_yours: update.isYours };
    default:
      return update;
  }
}
