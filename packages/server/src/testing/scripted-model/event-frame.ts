import { crc32 } from "node:zlib";

/** One message of Amazon's event stream. Source of the layout: Smithy, "Amazon event stream specification". */
export function encodeEventFrame(eventType: string, payload: string): Buffer {
  const headers = Buffer.concat([
    header(":message-type", "event"),
    header(":event-type", eventType),
    header(":content-type", "application/json"),
  ]);
  const body = Buffer.from(payload, "utf8");
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + headers.length + body.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const message = Buffer.concat([prelude, checksum(prelude), headers, body]);
  return Buffer.concat([message, checksum(message)]);
}

/** Type 7 is a string. */
function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(value.length);
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([7]),
    length,
    Buffer.from(value),
  ]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
