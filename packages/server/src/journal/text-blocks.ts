import type { TextsOfEvent } from "./text-grams.ts";

/*
 * How both stores group events with texts into the blocks of their index: consecutive messages of one class (kind and source) of a log, or
 * what is no message.
 */

/** The class of a block of events that are no messages; that of an event is above it. */
export const noMessage = 0;

/** Microseconds from the first event of a block to the last: what was before an instant is in no block that ends much later. */
export const blockSpanMicros = 3_600_000_000;

const maxEvents = 32;
const maxCharacters = 16_000;

type TimedTexts = TextsOfEvent & { readonly at: number };

/** Whether the next event begins another block. */
export function isFull(block: readonly TimedTexts[], next: TimedTexts): boolean {
  return (
    block.length > 0 &&
    (block.length >= maxEvents ||
      charactersIn(block) >= maxCharacters ||
      next.at - block[0]!.at > blockSpanMicros)
  );
}

/** In groups of which each is a block, the last one as long as it has room. */
export function toBlocks<Event extends TimedTexts>(events: readonly Event[]): Event[][] {
  const blocks: Event[][] = [];
  for (const event of events) {
    const open = blocks.at(-1);
    if (open === undefined || isFull(open, event)) blocks.push([event]);
    else open.push(event);
  }
  return blocks;
}

function charactersIn(block: readonly TextsOfEvent[]): number {
  return block.reduce(
    (total, { texts, body }) => total + texts.reduce((sum, text) => sum + text.length, body?.length ?? 0),
    0,
  );
}
