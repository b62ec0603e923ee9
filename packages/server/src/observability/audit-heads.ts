import { open, rename } from "node:fs/promises";
import { readIfThere } from "../lib/read-if-there.ts";
import type { Signer } from "../security/signer.ts";
import type { Link } from "./audit-chain.ts";
import { parseObject } from "../lib/json-object.ts";

/** The last line of a stream at some moment, and the line before the oldest that is kept. */
export type AuditHead = Link & { readonly stream: string; readonly start: Link };

/** `isSealed` is false when the file was not sealed with this key; then nothing in it counts. */
export type ReadHeads = { readonly isSealed: boolean; readonly heads: readonly AuditHead[] };

const purpose = "convoke audit heads 1";

/** Null when there is no such file. */
export async function readHeads(file: string, signer: Signer): Promise<ReadHeads | null> {
  const text = await readIfThere(file);
  if (text === null) return null;
  // What is damaged is reported as not sealed.
  const { heads, seal } = parseObject(text) ?? {};
  const isSealed =
    Array.isArray(heads) && typeof seal === "string" && signer.isSigned(purpose, JSON.stringify(heads), seal);
  return { isSealed, heads: isSealed ? (heads as AuditHead[]) : [] };
}

/** Replaces the file; it is on the disk when this resolves. */
export async function writeHeads(file: string, signer: Signer, heads: readonly AuditHead[]): Promise<void> {
  const seal = signer.sign(purpose, JSON.stringify(heads));
  const draft = `${file}.draft`;
  {
    await using handle = await open(draft, "w", 0o600);
    await handle.writeFile(`${JSON.stringify({ heads, seal })}\n`);
    await handle.sync();
  }
  await rename(draft, file);
}

/** The heads of the streams of one process, which alone writes their file. */
export class AuditHeads {
  readonly #file: string;
  readonly #signer: Signer;
  readonly #found: ReadHeads | null;
  readonly #heads: Map<string, AuditHead>;
  #saving: Promise<void> = Promise.resolve();

  private constructor(file: string, signer: Signer, found: ReadHeads | null) {
    this.#file = file;
    this.#signer = signer;
    this.#found = found;
    this.#heads = new Map(found?.heads.map((head) => [head.stream, head]));
  }

  static async open(file: string, signer: Signer): Promise<AuditHeads> {
    return new AuditHeads(file, signer, await readHeads(file, signer));
  }

  /** Null when none was sealed yet; `unsealed` when the file was not sealed with this key. */
  find(stream: string): AuditHead | "unsealed" | null {
    return this.#heads.get(stream) ?? (this.#found?.isSealed === false ? "unsealed" : null);
  }

  /** Seals this head with those of the other streams; rejects when the file cannot be written. */
  save(head: AuditHead): Promise<void> {
    this.#heads.set(head.stream, head);
    const saved = this.#saving.then(() => writeHeads(this.#file, this.#signer, [...this.#heads.values()]));
    // The failure is its caller's; the next one writes again.
    this.#saving = saved.catch(() => {});
    return saved;
  }
}
