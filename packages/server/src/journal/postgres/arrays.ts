/** Types of elements by the numbers that PostgreSQL gives them in its catalogue; these never change. */
const oids = { int2: 21, int4: 23, int8: 20, text: 25, uuid: 2950 } as const;

const headerBytes = 20;
const lengthBytes = 4;

/**
 * Writes arrays in PostgreSQL's binary form: sent as a parameter one costs the server no parsing. A `Buffer` goes without a type,
 * so the statement has to cast it (`$1::bigint[]`).
 */
function arraysOf<Value>(
  oid: number,
  sizeOf: (value: Value) => number,
  write: (buffer: Buffer, value: Value, at: number) => void,
): (values: readonly (Value | null)[]) => Buffer {
  return (values) => {
    let total = headerBytes + lengthBytes * values.length;
    for (const value of values) if (value !== null) total += sizeOf(value);
    const buffer = Buffer.allocUnsafe(total);
    buffer.writeInt32BE(1, 0);
    buffer.writeInt32BE(values.includes(null) ? 1 : 0, 4);
    buffer.writeInt32BE(oid, 8);
    buffer.writeInt32BE(values.length, 12);
    buffer.writeInt32BE(1, 16);
    let at = headerBytes;
    for (const value of values) {
      const size = value === null ? -1 : sizeOf(value);
      buffer.writeInt32BE(size, at);
      at += lengthBytes;
      if (value === null) continue;
      write(buffer, value, at);
      at += size;
    }
    return buffer;
  };
}

const bytes = (size: number) => (): number => size;

export const smallints = arraysOf<number>(oids.int2, bytes(2), (to, value, at) => to.writeInt16BE(value, at));
export const integers = arraysOf<number>(oids.int4, bytes(4), (to, value, at) => to.writeInt32BE(value, at));
export const bigints = arraysOf<number>(oids.int8, bytes(8), (to, value, at) =>
  to.writeBigInt64BE(BigInt(value), at),
);
export const uuids = arraysOf<Uint8Array>(oids.uuid, bytes(16), (to, value, at) => to.set(value, at));
export const texts = arraysOf<string>(
  oids.text,
  (value) => Buffer.byteLength(value),
  (to, value, at) => to.write(value, at),
);
