import { join } from "node:path";

export const addressSuffix = ".door";

/** The file with a node's address for the other nodes of its data folder; it is removed with the node's lock. */
export function addressFileOf(dataDir: string, nodeId: string): string {
  return join(dataDir, "nodes", nodeId + addressSuffix);
}
