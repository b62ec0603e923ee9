import type { Signer } from "../security/signer.ts";
import { openAuditFiles, type AuditFile } from "./audit-files.ts";
import type { AuditHead } from "./audit-heads.ts";
import { readAllHeads, type SealedHeads } from "./all-audit-heads.ts";
import { ChainCheck, type AuditBreak, type AuditRemark } from "./check-chain.ts";

export type StreamReport = {
  readonly stream: string;
  readonly files: number;
  readonly lines: number;
  /** Numbers of the first and last line that were checked; null for none. */
  readonly first: number | null;
  readonly last: number | null;
  /** Lines from before there was a chain. */
  readonly unchained: number;
};

export type AuditReport = {
  readonly streams: readonly StreamReport[];
  /** The first of each stream, and files of heads that count for nothing. */
  readonly breaks: readonly AuditBreak[];
  readonly remarks: readonly AuditRemark[];
};

/**
 * Checks all streams in the folder of the audit log against their sealed heads; servers may write to them meanwhile.
 * Rejects with ENOENT when there is no such folder.
 */
export async function verifyAudit(directory: string, signer: Signer): Promise<AuditReport> {
  await using scope = new AsyncDisposableStack();
  // Files only grow and starts only move on: heads of before and starts of after fit what is read between.
  const before = await readAllHeads(directory, signer);
  const files = await openAuditFiles(directory, scope);
  const after = await readAllHeads(directory, signer);
  const names = new Set([...files.keys(), ...before.heads.map(({ stream }) => stream)]);
  const checks = [];
  for (const stream of [...names].toSorted()) {
    const head = find(before, stream);
    const start = find(after, stream)?.start ?? null;
    const ofStream = files.get(stream) ?? [];
    const check = await checkStream(new ChainCheck({ stream, head, start }), ofStream);
    checks.push({ stream, check, files: ofStream.length, isSealed: start !== null });
  }
  const unsealed = after.unsealed.map((file) => ({
    stream: file,
    file,
    line: null,
    problem: "was not sealed by this folder's key",
  }));
  return {
    streams: checks.map(({ stream, check: { lines, first, last, unchained }, files: count }) => ({
      stream,
      files: count,
      lines,
      first,
      last,
      unchained,
    })),
    breaks: [
      ...unsealed,
      ...checks.flatMap(({ stream, check, isSealed }) =>
        (check.broken === null ? [] : [check.broken]).concat(
          isSealed || check.last === null || unsealed.length > 0 ? [] : [withoutHead(stream)],
        ),
      ),
    ],
    remarks: checks.flatMap(({ check }) => check.remarks),
  };
}

function find({ heads }: SealedHeads, stream: string): AuditHead | null {
  return heads.find((head) => head.stream === stream) ?? null;
}

async function checkStream(check: ChainCheck, files: readonly AuditFile[]): Promise<ChainCheck> {
  for (const { name, age, handle } of files) check.file(name, await handle.readFile("utf8"), age === 0);
  check.end();
  return check;
}

function withoutHead(stream: string): AuditBreak {
  return { stream, file: `${stream}.jsonl`, line: null, problem: "has lines and no sealed head" };
}
