/** The 16 bytes of a UUID; they order like its text. */
export function toIdBytes(id: string): Uint8Array | null {
  if (!uuidPattern.test(id)) return null;
  return Buffer.from(id.replaceAll("-", ""), "hex");
}

/** The text of a UUID's 16 bytes. */
export function toIdText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
