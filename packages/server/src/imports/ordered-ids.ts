import { createHash } from "node:crypto";

/** Whether an id is one that grows with the log, as this server makes them. */
export function isOrderedId(id: string): boolean {
  return id.charAt(14) === "7";
}

/**
 * The id of an imported event whose own id says nothing of its place: a UUIDv7 of the instant, which is another one for each event of a
 * log, and of a digest. The same event always gets the same.
 */
export function orderedId(sourceId: string, micros: number): string {
  const ms = Math.floor(micros / 1000);
  const time = ms.toString(16).padStart(12, "0");
  const within = (micros - ms * 1000).toString(16).padStart(3, "0");
  const digest = createHash("sha256").update(sourceId).digest("hex");
  const variant = ((Number.parseInt(digest.charAt(0), 16) & 3) | 8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${within}-${variant}${digest.slice(1, 4)}-${digest.slice(4, 16)}`;
}
