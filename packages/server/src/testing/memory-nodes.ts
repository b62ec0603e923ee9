import type { Socket } from "node:net";
import type { GroupMessage, ProcessGroup } from "../cluster/process-group.ts";

/** Processes behind one port, simulated in this one. Listeners have been called when `publish` returns. */
export function createProcessGroup(count: number, url = "http://127.0.0.1:1"): MemoryNode[] {
  const all: MemoryNode[] = [];
  for (let number = 1; number <= count; number += 1) all.push(new MemoryNode(number, count, url, all));
  return all;
}

export class MemoryNode implements ProcessGroup {
  readonly number: number;
  readonly count: number;
  readonly url: string;
  /** Gives this process a connection, once it accepts any. */
  give: (socket: Socket) => void = (socket) => socket.destroy();
  readonly #all: readonly MemoryNode[];
  readonly #listeners = new Map<string, Set<(body: unknown) => void>>();

  constructor(number: number, count: number, url: string, all: readonly MemoryNode[]) {
    this.number = number;
    this.count = count;
    this.url = url;
    this.#all = all;
  }

  take(onConnection: (socket: Socket) => void): void {
    this.give = onConnection;
  }

  publish({ topic, body }: GroupMessage): void {
    const sent = JSON.stringify(body);
    for (const node of this.#all) {
      if (node === this) continue;
      for (const onNews of node.#listeners.get(topic) ?? []) onNews(JSON.parse(sent));
    }
  }

  subscribe(topic: string, onNews: (body: unknown) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(onNews));
    return () => void listeners.delete(onNews);
  }
}
