/** Types of elements by the numbers that PostgreSQL gives them in its catalogue; these never change. */
const oids = { int2: 21, int4: 23, int8: 20, text: 25, uuid: 2950 } as const;

const headerBytes = 20;
const lengthBytes = 4;

/**
 * An array in PostgreSQL's binary form: sent as a parameter it costs the server no parsing. A `Buffer` goes without a type, so
 * the statement has to cast it (`$1::bigint[]`).
 */
function encode<Value>(
  oid: number,
  values: readonly (Value | null)[],
  sizeOf: (value: Value) => number,
  write: (buffer: Buffer, value: Value, at: number) => void,
): Buffer {
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
}

export function smallints(values: readonly (number | null)[]): Buffer {
  return encode(
    oids.int2,
    values,
    () => 2,
    (buffer, value, at) => buffer.writeInt16BE(value, at),
  );
}

export function integers(values: readonly (number | null)[]): Buffer {
  return encode(
    oids.int4,
    values,
    () => 4,
    (buffer, value, at) => buffer.writeInt32BE(value, at),
  );
}

export function bigints(values: readonly (number | null)[]): Buffer {
  return encode(
    oids.int8,
    values,
    () => 8,
    (buffer, value, at) => buffer.writeBigInt64BE(BigInt(value), at),
  );
}

export function uuids(values: readonly (Uint8Array | null)[]): Buffer {
  return encode(
    oids.uuid,
    values,
    () => 16,
    (buffer, value, at) => buffer.set(value, at),
  );
}

export function texts(values: readonly (string | null)[]): Buffer {
  return encode(
    oids.text,
    values,
    (value) => Buffer.byteLength(value),
    (buffer, value, at) => buffer.write(value, at),
  );
}
