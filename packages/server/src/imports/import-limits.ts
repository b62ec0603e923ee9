/** What one upload may have in it; what is larger is refused before it is read. */
export type ImportLimits = {
  /** Of the file as it is sent. */
  readonly uploadBytes: number;
  /** Of everything in it that is read, unpacked. */
  readonly unpackedBytes: number;
  readonly fileBytes: number;
  readonly files: number;
  readonly conversations: number;
  readonly eventsOfConversation: number;
  readonly nameCharacters: number;
  /** Of one JSON document. */
  readonly depth: number;
};

const mebibyte = 1024 * 1024;

export const importLimits: Omit<ImportLimits, "uploadBytes"> = {
  unpackedBytes: 2048 * mebibyte,
  fileBytes: 32 * mebibyte,
  files: 250_000,
  conversations: 500,
  eventsOfConversation: 100_000,
  nameCharacters: 1_024,
  depth: 128,
};
