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

/** The id that is so many steps after this one; ids grow with their numbers. */
export function idAfter(bytes: Uint8Array, steps: number): Uint8Array {
  const number = BigInt(`0x${Buffer.from(bytes).toString("hex")}`) + BigInt(steps);
  return Buffer.from(BigInt.asUintN(128, number).toString(16).padStart(32, "0"), "hex");
}

/** Whether what stands where an id should be can be one. */
export function isIdBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.byteLength === 16;
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
