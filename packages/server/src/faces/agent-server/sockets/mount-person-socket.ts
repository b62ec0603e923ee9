import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Directory } from "../../../directory/directory.ts";
import type { Conversation } from "../../../engine/conversation.ts";
import type { KeyRing } from "../../../http/auth.ts";
import type { Peers } from "../../../cluster/peers.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { closeCodes } from "./close-codes.ts";
import { mountSocket, type Admitted, type SocketTarget } from "./mount-socket.ts";
import { ifOpen, readConversationId, refusedFrame } from "./person-socket.ts";
import type { SocketTimes } from "./socket-times.ts";

/** Dependencies of the sockets that attach a person to an agent's terminal, browser or shell. */
export type PersonSocketDeps = Pick<FaceDeps, "validator" | "logger"> & {
  readonly scopeOf: (request: FastifyRequest) => {
    readonly directory: Pick<Directory, "open">;
    readonly keys: KeyRing;
  };
  readonly times: SocketTimes;
  /** Reaches the other nodes on the store, one of which may own the conversation. */
  readonly peers: Peers;
};

type Target<Asked> = SocketTarget & {
  readonly directory: Pick<Directory, "open">;
  readonly id: string;
  readonly asked: Asked;
};

export type PersonSocket<Asked> = {
  readonly path: string;
  /** For the log. */
  readonly name: string;
  /** What of the conversation the address asks for; throws a Fault for what cannot be. */
  readonly read: (request: FastifyRequest) => Asked;
  readonly serve: (conversation: Conversation, admitted: Admitted<Target<Asked>>) => Promise<void>;
};

/** Mounts a socket of one person with an agent's tool, at the conversation's owner. */
export function mountPersonSocket<Asked>(
  app: FastifyInstance,
  deps: PersonSocketDeps,
  { path, name, read, serve }: PersonSocket<Asked>,
): void {
  mountSocket<Target<Asked>>(app, {
    ...deps,
    path,
    name,
    readTarget: (request) => ({
      ...deps.scopeOf(request),
      id: readConversationId(request),
      asked: read(request),
    }),
    owner: {
      peers: deps.peers,
      find: (caller, { directory, id }) => directory.open(caller, id),
    },
    refusal: refusedFrame,
    serve: async (admitted) => {
      const { socket, target, caller } = admitted;
      const conversation = await ifOpen(target.directory.open(caller, target.id));
      if (conversation === null) socket.close(closeCodes.notFound, "Conversation not found");
      else await serve(conversation, admitted);
    },
  });
}
