import type { FastifyInstance } from "fastify";
import { browserInputs, type BrowserFrame, type BrowserInput } from "@convoke/protocol";
import { NewestUpdates, type BrowserUpdate } from "@convoke/tool-host";
import { attachBrowser } from "../../../tools/people/attach-browser.ts";
import { closeCodes } from "./close-codes.ts";
import { mountPersonSocket, type PersonSocketDeps } from "./mount-person-socket.ts";
import { readInputs, untilRoom } from "./person-socket.ts";
import { refuseNearMisses, type SocketQuery } from "./socket-query.ts";

/** At most one picture is in flight, so that a slow client sees the present state. */
const maxUnsentBytes = 64_000;

/**
 * `/sockets/browsers/{conversation_id}`: shows the agent's browser live to one person, who may take it over and give it
 * back. It never opens a browser. A disconnect gives it back.
 */
export function mountBrowserSocket(app: FastifyInstance, deps: PersonSocketDeps): void {
  mountPersonSocket(app, deps, {
    path: "/sockets/browsers/:conversationId",
    name: "browser socket",
    read: (request) => refuseNearMisses(request.query as SocketQuery, []),
    serve: async (conversation, { socket, caller, frames, output }) => {
      const { validator } = deps;
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
    },
  });
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
