import { crc32 } from "node:zlib";
import type { TextPlace } from "./text-place.ts";
import { isJson } from "../lib/json-object.ts";

/** What a row of the log holds besides its place. */
export type CheckedRow = {
  readonly id: Uint8Array;
  readonly timestamp: number;
  readonly classCode: number;
  readonly json: string;
  readonly text: TextPlace;
  readonly meta: string | null;
};

const jsonValues = 2 ** 32;
const besideBits = 15;

/**
 * One number of six bytes for a row: 32 bits for the JSON at its place, which every read compares, and 15 for what stands
 * beside it. An event that was moved to another place does not match either.
 */
export function checksumOf(position: number, row: CheckedRow): number {
  return besideSum(row) * jsonValues + jsonSum(position, row.json);
}

/** Rows of older releases have no checksum; then the JSON has to be one. */
export function isJsonIntact(position: number, json: unknown, checksum: unknown): json is string {
  if (typeof json !== "string") return false;
  if (typeof checksum === "number") return checksum >>> 0 === jsonSum(position, json);
  return checksum === null && json.startsWith("{") && isJson(json);
}

/** Whether what stands beside the JSON is what was written; true for rows of older releases. */
export function isBesideIntact(row: CheckedRow, checksum: unknown): boolean {
  if (checksum === null) return true;
  return typeof checksum === "number" && Math.floor(checksum / jsonValues) === besideSum(row);
}

function jsonSum(position: number, json: string): number {
  return crc32(json, position % jsonValues);
}

function besideSum({ id, timestamp, classCode, text, meta }: CheckedRow): number {
  const beside = crc32(`${timestamp} ${classCode} ${text ?? ""} ${meta ?? ""}`, crc32(id));
  return (beside ^ (beside >>> besideBits)) & (2 ** besideBits - 1);
}
