import type { Socket } from "node:net";

export type Answer = {
  readonly status: number;
  /** Decoded on demand. */
  readonly text: () => string;
};

/** Resolves at the last byte of one answer. Only its head is decoded, so that the client is cheap. */
export function readAnswer(socket: Socket): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const body: Buffer[] = [];
  let begun: Buffer = Buffer.alloc(0);
  let status = 0;
  let bodyLeft = -1;
  let isChunked = false;
  const onClose = (): void => reject(new Error("The connection was closed before the answer's end."));
  const onData = (chunk: Buffer): void => {
    let bodyPart = chunk;
    if (bodyLeft === -1) {
      begun = begun.length === 0 ? chunk : Buffer.concat([begun, chunk]);
      const end = begun.indexOf("\r\n\r\n");
      if (end === -1) return;
      const head = begun.toString("latin1", 0, end + 2);
      const [, code, length] = /^HTTP\/1\.1 (\d+) [^]*\r\ncontent-length: (\d+)\r\n/i.exec(head) ?? [];
      isChunked = length === undefined && /\r\ntransfer-encoding: chunked\r\n/i.test(head);
      if (length === undefined && !isChunked) {
        reject(new Error(`An answer of unknown length: ${head}`));
        return;
      }
      status = Number(code ?? /^HTTP\/1\.1 (\d+)/.exec(head)?.[1]);
      bodyLeft = isChunked ? Infinity : Number(length);
      bodyPart = begun.subarray(end + 4);
    }
    bodyLeft -= bodyPart.length;
    body.push(bodyPart);
    if (isChunked ? !endsChunks(body) : bodyLeft > 0) return;
    socket.off("data", onData).off("close", onClose);
    const whole = (): Buffer => (isChunked ? joinChunks(Buffer.concat(body)) : Buffer.concat(body));
    resolve({ status, text: () => whole().toString("utf8") });
  };
  socket.on("data", onData).on("close", onClose);
  return promise;
}

/** Whether the last, empty chunk has arrived. The chunk before it ends like every chunk. */
function endsChunks(body: readonly Buffer[]): boolean {
  const tail = Buffer.concat(body.slice(-8)).toString("latin1").slice(-7);
  return tail === "\r\n0\r\n\r\n" || tail === "0\r\n\r\n";
}

function joinChunks(body: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const end = body.indexOf("\r\n", at);
    const size = Number.parseInt(body.toString("latin1", at, end), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    chunks.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
