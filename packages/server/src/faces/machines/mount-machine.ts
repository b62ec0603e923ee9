import type { FastifyInstance, FastifyRequest } from "fastify";
import type { LocalSandboxes } from "../../app-conversations/fleet-sandboxes.ts";
import type { MachineActs, MachineAsked, NetworkAsked } from "../../app-conversations/machine-calls.ts";
import { Fault } from "../../lib/fault.ts";
import type { SandboxStore } from "../../sandboxes/sandbox-store.ts";
import type { ByteTunnels } from "./byte-tunnels.ts";
import { machinePrefix, toFaultAnswer, type MachineAnswer } from "./machine-wire.ts";

export type MachineFaceDeps = {
  readonly local: LocalSandboxes;
  readonly store: Pick<SandboxStore, "get" | "list">;
  readonly tunnels: ByteTunnels;
};

type Asked = { readonly id: string; readonly act?: string; readonly port?: string };

/** After that long the caller gets `pending` and asks again: a request must not stay open as long as a start takes. */
const pendingMs = 15_000;

/** The calls of other nodes to the sandboxes here. Only a node's pass authenticates them. */
export function mountMachine(app: FastifyInstance, { local, store, tunnels }: MachineFaceDeps): void {
  const acts: { [Act in keyof MachineActs]: (asked: Required<MachineAsked>) => Promise<MachineActs[Act]> } = {
    place: ({ id }) => local.placeOf(id),
    pause: ({ ownerId, id }) => local.pause(ownerId, id),
    resume: ({ ownerId, id }) => local.resume(ownerId, id),
    remove: ({ ownerId, id }) => local.remove(ownerId, id),
    grant: async ({ id, network: { conversationId = "", hosts = [] } }) => {
      await local.setGrants(id, conversationId, hosts);
      return null;
    },
    secrets: async ({ id, network: { conversationId = "", secrets = [] } }) => {
      local.receiveSecrets(id, conversationId, secrets);
      return null;
    },
    refusals: ({ id, network: { mark = 0 } }) => local.refusalsSince(id, mark),
    totals: ({ id }) => local.totals(id),
    start: ({ ownerId, id, templateId }) => local.start(ownerId, templateId, id),
    row: ({ id }) => store.get(id),
    rows: async ({ ownerId }) => (await store.list()).filter((row) => row.ownerId === ownerId),
    offer: async () => ({ templates: local.templates, summary: local.summary }),
  };
  const underWay = new Map<string, Promise<MachineAnswer>>();
  const answer = async (request: FastifyRequest): Promise<MachineAnswer> => {
    const { id, act = "" } = request.params as Asked;
    if (!Object.hasOwn(acts, act)) throw new Fault("missing", "not_found", "Not Found");
    const ownerId = request.caller?.userId ?? "";
    const { template: templateId = "" } = request.query as { template?: string };
    const network = (request.body ?? {}) as NetworkAsked;
    const key = `${act} ${ownerId} ${id} ${JSON.stringify(network)}`;
    const asked = { id, ownerId, templateId, network };
    const going = underWay.get(key) ?? answerOf(acts[act as keyof MachineActs](asked));
    underWay.set(key, going);
    // The next request of the same call gets the result.
    going.catch(() => {});
    let isOver = true;
    try {
      const described = await withinMs(going, pendingMs);
      isOver = described !== null;
      return described ?? { pending: true };
    } finally {
      if (isOver) underWay.delete(key);
    }
  };
  const idOf = (request: FastifyRequest): string => (request.params as Asked).id;
  app.post(`${machinePrefix}/:id/:act`, { onRequest: tunnels.admit }, answer);
  tunnels.mount(`${machinePrefix}/:id/host`, (request) => local.connectHost(idOf(request)));
  tunnels.mount(`${machinePrefix}/:id/ports/:port`, (request) =>
    local.connectPort(idOf(request), Number((request.params as Asked).port)),
  );
}

/** A Fault is an answer too. */
async function answerOf(doing: Promise<unknown>): Promise<MachineAnswer> {
  try {
    return { value: await doing };
  } catch (error) {
    const described = toFaultAnswer(error);
    if (described === null) throw error;
    return described;
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
