import { filler, needle, type Operation } from "./compare.ts";
import type { AgentServerPeer } from "./peer.ts";

const create: Operation = {
  id: "create",
  name: "a conversation created: p50",
  times: 20,
  ask: async (peer) => (await peer.create()).ms,
};

const turns: Operation = {
  id: "turns",
  name: "20 first turns at once, to the end of the last: median",
  times: 1,
  ask: async (peer) => await peer.turns(20),
};

/** Operations for servers of any protocol. The list comes after the turns, whose conversations it contains. */
export const operationsOfAll: readonly Operation[] = [
  create,
  {
    id: "turn",
    name: "a conversation with a message, to the end of its run: p50",
    times: 10,
    ask: async (peer) => await peer.turn(),
  },
  turns,
  {
    id: "send",
    name: "a message stored, behind 200 others: p50",
    times: 30,
    stored: 200,
    ask: async (peer, conversation) => await peer.send(conversation, filler),
  },
  {
    id: "page",
    name: "the newest 100 of 200: p50",
    times: 30,
    stored: 200,
    ask: async (peer, conversation) => await peer.page(conversation),
  },
  {
    id: "list",
    name: "the newest 20 conversations of more than 100: p50",
    times: 30,
    ask: async (peer) => await peer.list(),
  },
];

/** Operations for servers of our own protocol. */
export const operationsOfReference: readonly Operation<AgentServerPeer>[] = [
  { id: "health", name: "GET /health: p50", times: 100, ask: async (peer) => await peer.health() },
  create,
  ...[200, 2_000].map((stored) => ({
    id: `send.${stored}`,
    name: `a message stored, behind ${stored} others: p50`,
    times: 30,
    stored,
    ask: async (peer: AgentServerPeer, conversation: string) => await peer.send(conversation, filler),
  })),
  {
    id: "page",
    name: "the newest 100 events of 2,000: p50",
    times: 30,
    stored: 2_000,
    ask: async (peer, conversation) => await peer.page(conversation),
  },
  {
    id: "search",
    name: "events with a text that one of 2,000 has: p50",
    times: 20,
    stored: 2_000,
    ask: async (peer, conversation) => await peer.search(conversation, needle),
  },
  turns,
];
