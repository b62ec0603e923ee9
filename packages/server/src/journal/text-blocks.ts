/*
 * Limits of the index of message texts that both stores keep: texts of one stream (one conversation, one class) are grouped into
 * blocks of consecutive messages.
 */

/** A block is made of this many messages, of fewer when they have this many characters. */
export const blockMessageLimit = 16;
export const blockCharacterLimit = 16_000;

/** Each one costs a search as much as all others do; a few are enough to make a block unlikely. */
export const maxPhrasesPerQuery = 4;
export const maxGramsPerQuery = 5;
