import type { Workspace } from "@convoke/tool-host";
import { openYoungCollector } from "../../../lib/collect-young.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import type { RouteRequest } from "../../../http/mount.ts";

/** The maximum size of a form besides its file. */
const formBytes = 64 * 1024;

/**
 * Writes the first file of a request's form while it arrives; returns its size in bytes. The target is replaced when
 * the upload is complete.
 */
export async function receiveFile(
  { request }: RouteRequest,
  workspace: Workspace,
  path: string,
  limitBytes: number,
): Promise<number> {
  // Refused before anything is read, so that nobody sends a gigabyte for a refusal.
  if (Number(request.headers["content-length"] ?? 0) > limitBytes + formBytes) throw tooLarge(limitBytes);
  if (!request.isMultipart() || !hasBoundary(request.headers["content-type"])) throw noFile();
  for await (const part of whole(request.parts())) {
    if (part.type !== "file") continue;
    let sizeBytes = 0;
    const count = (bytes: number): void => void (sizeBytes += bytes);
    await workspace.writeFile(path, limited(whole(part.file as AsyncIterable<Buffer>), limitBytes, count));
    return sizeBytes;
  }
  throw noFile();
}

/** Without a boundary the end of a part is unknown. */
function hasBoundary(contentType: string | undefined): boolean {
  return /;\s*boundary=\s*[^\s;]/i.test(contentType ?? "");
}

/** Its reader throws plain errors for a truncated form, which is the sender's mistake. */
async function* whole<Part>(parts: AsyncIterable<Part>): AsyncGenerator<Part> {
  const iterator = parts[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await iterator.next().catch((cause: unknown) => {
        if (cause instanceof Fault) throw cause;
        throw invalidField(["body", "file"], "The form ends before its last part does. Send it whole.");
      });
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

async function* limited(
  content: AsyncIterable<Buffer>,
  limitBytes: number,
  onBytes: (count: number) => void,
): AsyncGenerator<Buffer> {
  let byteCount = 0;
  let collectAt = collectEveryBytes;
  let collect: (() => void) | null = null;
  for await (const bytes of content) {
    byteCount += bytes.length;
    if (byteCount > limitBytes) throw tooLarge(limitBytes);
    onBytes(bytes.length);
    yield bytes;
    if (byteCount < collectAt) continue;
    collectAt = byteCount + collectEveryBytes;
    collect ??= openYoungCollector();
    collect?.();
  }
}

/** P46: the maximum memory of upload chunks that wait for garbage collection. */
const collectEveryBytes = 4 * 1024 * 1024;

function tooLarge(limitBytes: number): Fault {
  const mebibytes = Math.floor(limitBytes / 1024 / 1024);
  return new Fault(
    "too-large",
    "upload_too_large",
    `The file is larger than ${mebibytes} MiB, which is the most that is taken.`,
  );
}

function noFile(): Fault {
  return invalidField(["body", "file"], "Send a multipart form with a file.", "missing");
}
