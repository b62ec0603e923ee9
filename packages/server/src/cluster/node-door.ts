import { join } from "node:path";

export const doorSuffix = ".door";

/** The file in which a node says how the other nodes of its data folder reach it; it goes with the node's lock. */
export function doorFileOf(dataDir: string, nodeId: string): string {
  return join(dataDir, "nodes", nodeId + doorSuffix);
}
