import type { Socket } from "node:net";

export type Answer = {
  readonly status: number;
  /** Read from the bytes when it is asked for. */
  readonly text: () => string;
};

/** Resolves at the last byte of one answer; only the bytes of its head become text, so that a client costs next to nothing. */
export function readAnswer(socket: Socket): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const body: Buffer[] = [];
  let begun: Buffer = Buffer.alloc(0);
  let status = 0;
  let bodyLeft = -1;
  const onClose = (): void => reject(new Error("The connection was closed before the answer's end."));
  const onData = (chunk: Buffer): void => {
    let piece = chunk;
    if (bodyLeft === -1) {
      begun = begun.length === 0 ? chunk : Buffer.concat([begun, chunk]);
      const end = begun.indexOf("\r\n\r\n");
      if (end === -1) return;
      const head = begun.toString("latin1", 0, end + 2);
      const [, code, length] = /^HTTP\/1\.1 (\d+) [^]*\r\ncontent-length: (\d+)\r\n/i.exec(head) ?? [];
      if (length === undefined) {
        reject(new Error(`An answer of unknown length: ${head}`));
        return;
      }
      status = Number(code);
      bodyLeft = Number(length);
      piece = begun.subarray(end + 4);
    }
    bodyLeft -= piece.length;
    body.push(piece);
    if (bodyLeft > 0) return;
    socket.off("data", onData).off("close", onClose);
    resolve({ status, text: () => Buffer.concat(body).toString("utf8") });
  };
  socket.on("data", onData).on("close", onClose);
  return promise;
}
