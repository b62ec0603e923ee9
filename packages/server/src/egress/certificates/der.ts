/** Writes ASN.1 in DER (X.690), only the forms that a certificate of ours has. Nothing is read. */

const contextSpecific = 0x80;
const constructed = 0x20;

function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff];
  return [0x80 | bytes.length, ...bytes];
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => element(0x30, ...parts);
export const setOf = (...parts: readonly Uint8Array[]): Buffer => element(0x31, ...parts);
export const boolean = (value: boolean): Buffer => element(0x01, Buffer.from([value ? 0xff : 0]));
export const octets = (content: Uint8Array): Buffer => element(0x04, content);
export const utf8 = (text: string): Buffer => element(0x0c, Buffer.from(text));

/** Positive, from its bytes in network order. */
export function integer(bytes: Uint8Array): Buffer {
  return element(0x02, bytes[0]! >= 0x80 ? Buffer.from([0]) : Buffer.alloc(0), bytes);
}

/** Of whole bytes, but for the last `unused` bits. */
export function bits(content: Uint8Array, unused = 0): Buffer {
  return element(0x03, Buffer.from([unused]), content);
}

export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(0x06, Buffer.from([40 * first + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = value >> 7; left > 0; left >>= 7) digits.unshift(0x80 | (left & 0x7f));
  return digits;
}

/** RFC 5280: years before 2050 have two digits. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  return date.getUTCFullYear() < 2050
    ? element(0x17, Buffer.from(digits.slice(2)))
    : element(0x18, Buffer.from(digits));
}

/** `[n]` around whole elements. */
export const tagged = (n: number, ...parts: readonly Uint8Array[]): Buffer =>
  element(contextSpecific | constructed | n, ...parts);

/** `[n]` in place of the element's own tag, around its content. */
export const implicit = (n: number, content: Uint8Array): Buffer => element(contextSpecific | n, content);
