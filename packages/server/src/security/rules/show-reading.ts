import type { CommandReading as ShownReading } from "@convoke/protocol";
import type { CommandReading } from "./read-command.ts";

const maxParts = 100;
const maxWords = 50;
const maxCharacters = 500;

/** How a command was read, for people: long commands are cut. */
export function showReading({ parts, opaque }: CommandReading): ShownReading {
  return {
    parts: parts.slice(0, maxParts).map(({ words, inside, opaque: why }) => ({
      words: words.slice(0, maxWords).map((word) => word?.slice(0, maxCharacters) ?? null),
      inside: [...inside],
      opaque: why,
    })),
    opaque: [...opaque],
  };
}
