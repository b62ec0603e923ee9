/** The text of a log as the engine frames it: a header of 8 bytes, the last 4 of them the length, before every chunk. */
export function readLogFrames(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at + 8 <= bytes.length;) {
    const length = bytes.readUInt32BE(at + 4);
    parts.push(bytes.subarray(at + 8, at + 8 + length));
    at += 8 + length;
  }
  return Buffer.concat(parts).toString("utf8");
}
