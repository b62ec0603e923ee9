import { join } from "node:path";
import { readIfThere } from "../lib/read-if-there.ts";

export type AuditLine = Readonly<Record<string, unknown>>;

/** The audit log of a data folder, in order; complete once the server has closed. */
export async function readAudit(
  dataDir: string,
): Promise<Record<"calls" | "refusals" | "network", AuditLine[]>> {
  const read = async (name: string): Promise<AuditLine[]> => {
    const text = (await readIfThere(join(dataDir, "audit", `${name}.jsonl`))) ?? "";
    return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as AuditLine]));
  };
  return { calls: await read("calls"), refusals: await read("refusals"), network: await read("network") };
}
