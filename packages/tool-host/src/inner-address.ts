import { isIP } from "node:net";

/**
 * The IPv4 address inside an IPv6 address: mapped, compatible, translated (RFC 6052), 6to4 (RFC 3056), ISATAP (RFC 5214); any other
 * text unchanged, without brackets and zone.
 */
export function innerAddress(address: string): string {
  const bare = address.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  if (isIP(bare) !== 6) return bare;
  const words = wordsOf(bare);
  const inner = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join(".");
  const isZero = (count: number): boolean => words.slice(0, count).every((word) => word === 0);
  const last = (): string => inner(words[6]!, words[7]!);
  if (isZero(5) && (words[5] === 0xffff || (words[5] === 0 && words[6] !== 0))) return last();
  if (isZero(4) && words[4] === 0xffff && words[5] === 0) return last();
  if (words[0] === 0x64 && words[1] === 0xff9b) return last();
  if (words[0] === 0x2002) return inner(words[1]!, words[2]!);
  if ((words[4]! & 0xfdff) === 0 && words[5] === 0x5efe) return last();
  return bare;
}

/** The eight words of an IPv6 address. */
function wordsOf(address: string): number[] {
  // The URL parser knows all notations, including an IPv4 suffix.
  const { hostname } = new URL(`http://[${address}]/`);
  const [head = "", tail] = hostname.slice(1, -1).split("::");
  const read = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16));
  const [before, after] = [read(head), read(tail ?? "")];
  const missing = tail === undefined ? 0 : 8 - before.length - after.length;
  return [...before, ...Array.from({ length: missing }, () => 0), ...after];
}
