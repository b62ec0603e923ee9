import fastify from "fastify";
import { expect, test } from "vitest";
import type { LocalSandboxes } from "../../app-conversations/fleet-sandboxes.ts";
import type { Machines } from "../../cluster/machines.ts";
import type { NodeCall } from "../../cluster/peers.ts";
import type { BoundSecret } from "../../egress/egress.ts";
import { Fault } from "../../lib/fault.ts";
import type { ByteTunnels } from "./byte-tunnels.ts";
import { mountMachine } from "./mount-machine.ts";
import { NodeMachines } from "./node-machines.ts";

/** A node that asks another one about sandboxes, over HTTP in memory. */
function openNodes() {
  const granted: unknown[] = [];
  const received: unknown[] = [];
  const totals = [{ host: "a.example", port: 443, requests: 1, refusals: 0, sentBytes: 2, receivedBytes: 3 }];
  const local = {
    setGrants: async (id: string, conversationId: string, hosts: readonly string[]) => {
      if (hosts.includes("not a host")) throw new Fault("unusable", "invalid_request", "hosts.0: no host");
      granted.push({ id, conversationId, hosts });
    },
    receiveSecrets: (id: string, conversationId: string, secrets: readonly BoundSecret[]) => {
      received.push({ id, conversationId, secrets });
    },
    refusalsSince: async (id: string, mark: number) => ({ mark: mark + 1, text: `refused in ${id}` }),
    totals: async () => totals,
  } as unknown as LocalSandboxes;
  const app = fastify();
  const tunnels = { admit: async () => {}, mount: () => {} } as unknown as ByteTunnels;
  mountMachine(app, { local, store: { get: async () => null, list: async () => [] }, tunnels });
  const ask = async (_nodeId: string, { path, headers, body }: NodeCall): Promise<Response> => {
    const payload = typeof body === "string" ? { payload: body } : {};
    const { body: text, statusCode } = await app.inject({ method: "POST", url: path, headers, ...payload });
    return new Response(text, { status: statusCode });
  };
  const calls = new NodeMachines({
    machines: { own: "here", served: async () => new Map([["there", "node"]]) } as unknown as Machines,
    peers: { ask, findWay: async () => null },
  });
  return { calls, granted, received, totals, [Symbol.asyncDispose]: () => app.close() };
}

const box = { id: "box", ownerId: "ada" };

test("grants, refusals and totals of a sandbox are asked of its node", async () => {
  await using nodes = openNodes();
  const { calls, granted, totals } = nodes;
  const network = { conversationId: "one", hosts: ["a.example"] };
  expect(await calls.ask("there", "grant", { ...box, network })).toBe(null);
  expect(granted).toEqual([{ id: "box", ...network }]);
  expect(await calls.ask("there", "refusals", { ...box, network: { mark: 4 } })).toEqual({
    mark: 5,
    text: "refused in box",
  });
  expect(await calls.ask("there", "totals", box)).toEqual(totals);
});

test("the secrets that a conversation binds reach the node of its sandbox", async () => {
  await using nodes = openNodes();
  const secrets: BoundSecret[] = [
    { name: "TOKEN", placeholder: "p", value: "the value", hosts: ["a.example"], as: ["header"] },
  ];
  const network = { conversationId: "one", secrets };
  expect(await nodes.calls.ask("there", "secrets", { ...box, network })).toBe(null);
  expect(nodes.received).toEqual([{ id: "box", ...network }]);
});

test("what the other node refuses is refused here", async () => {
  await using nodes = openNodes();
  const network = { conversationId: "one", hosts: ["not a host"] };
  await expect(nodes.calls.ask("there", "grant", { ...box, network })).rejects.toThrow("no host");
});
