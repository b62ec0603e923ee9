import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Signer } from "../security/signer.ts";
import { readHeads, writeHeads, type AuditHead } from "./audit-heads.ts";
import { isHeadsFile } from "./audit-place.ts";

/** The heads of all streams; `unsealed` names files that were not sealed with this key. */
export type SealedHeads = { readonly heads: readonly AuditHead[]; readonly unsealed: readonly string[] };

/** Rejects with ENOENT when there is no such folder. */
export async function readAllHeads(directory: string, signer: Signer): Promise<SealedHeads> {
  const heads: AuditHead[] = [];
  const unsealed: string[] = [];
  for (const file of (await readdir(directory)).filter(isHeadsFile).toSorted()) {
    const read = await readHeads(join(directory, file), signer);
    if (read?.isSealed === false) unsealed.push(file);
    heads.push(...(read?.heads ?? []));
  }
  return { heads, unsealed };
}

/** After a change of the key. What neither key has sealed stays as it is. */
export async function resealAllHeads(directory: string, signer: Signer): Promise<void> {
  if (!existsSync(directory)) return;
  for (const file of (await readdir(directory)).filter(isHeadsFile)) {
    const read = await readHeads(join(directory, file), signer);
    if (read?.isSealed === true) await writeHeads(join(directory, file), signer, read.heads);
  }
}
