import type { Duplex } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { LocalSandboxes } from "../../app-conversations/fleet-sandboxes.ts";
import type { MachineActs } from "../../app-conversations/machine-door.ts";
import type { Neighbours } from "../../http/neighbours.ts";
import { Fault } from "../../lib/fault.ts";
import { machinePrefix, toFaultAnswer, type MachineAnswer } from "./machine-wire.ts";
import { tunnelProtocol } from "./open-tunnel.ts";

export type MachineFaceDeps = {
  readonly local: LocalSandboxes;
  readonly neighbours: Pick<Neighbours, "callerOf">;
};

type Asked = { readonly id: string; readonly act?: string; readonly port?: string };

/** After so long another server is told that it goes on, and asks again: a request must not be open for as long as a start takes. */
const pendingMs = 15_000;

/** What the servers of other machines may ask of the sandboxes here. Opened by their passes alone. */
export function mountMachine(app: FastifyInstance, { local, neighbours }: MachineFaceDeps): void {
  const acts: { [Act in keyof MachineActs]: (ownerId: string, id: string) => Promise<MachineActs[Act]> } = {
    place: (_ownerId, id) => local.placeOf(id),
    pause: (ownerId, id) => local.pause(ownerId, id),
    resume: (ownerId, id) => local.resume(ownerId, id),
    remove: (ownerId, id) => local.remove(ownerId, id),
  };
  const underWay = new Map<string, Promise<MachineAnswer>>();
  const tunnels = new Set<Duplex>();

  const admit = async (request: FastifyRequest): Promise<void> => {
    request.caller = neighbours.callerOf(request);
    if (request.caller === null) throw new Fault("stranger", "unauthorized", "Unauthorized");
  };
  const answer = async (request: FastifyRequest): Promise<MachineAnswer> => {
    const { id, act = "" } = request.params as Asked;
    if (!Object.hasOwn(acts, act)) throw new Fault("missing", "not_found", "Not Found");
    const ownerId = request.caller?.userId ?? "";
    const key = `${act} ${ownerId} ${id}`;
    const going = underWay.get(key) ?? tell(acts[act as keyof MachineActs](ownerId, id));
    underWay.set(key, going);
    const told = await withinMs(going, pendingMs);
    if (told === null) return { pending: true };
    underWay.delete(key);
    return told;
  };
  /** A hook, because every upgrade that comes to a handler is answered as a WebSocket of this server. */
  const lead =
    (open: (asked: Asked) => Promise<Duplex>) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { socket } = request.raw;
      let inner: Duplex;
      try {
        inner = await open(request.params as Asked);
      } catch (error) {
        const told = toFaultAnswer(error);
        if (told === null) throw error;
        return reply.send(told);
      }
      reply.hijack();
      request.noteSocket(request.caller);
      socket.setTimeout(0);
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${tunnelProtocol}\r\n\r\n`,
      );
      tunnels.add(inner);
      const endBoth = (): void => {
        tunnels.delete(inner);
        socket.destroy();
        inner.destroy();
      };
      for (const side of [socket, inner]) side.once("error", endBoth).once("close", endBoth);
      socket.pipe(inner).pipe(socket);
      return reply;
    };
  const host = lead(({ id }) => local.connectHost(id));
  const port = lead(({ id, port: number }) => local.connectPort(id, Number(number)));
  const never = (): never => {
    throw new Fault("unusable", "not_a_socket", "There are only bytes at this address.");
  };
  app.post(`${machinePrefix}/:id/:act`, { onRequest: admit }, answer);
  app.get(`${machinePrefix}/:id/host`, { onRequest: [admit, host] }, never);
  app.get(`${machinePrefix}/:id/ports/:port`, { onRequest: [admit, port] }, never);
  app.addHook("preClose", async () => {
    for (const tunnel of tunnels) tunnel.destroy();
  });
}

/** Never rejects with what a user is told, so that nobody has to wait for it. */
async function tell(doing: Promise<unknown>): Promise<MachineAnswer> {
  try {
    return { value: await doing };
  } catch (error) {
    const told = toFaultAnswer(error);
    if (told === null) throw error;
    return told;
  }
}

async function withinMs<Value>(promise: Promise<Value>, ms: number): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
