/** One file of an upload. What is not read of its content is passed over. */
export type ArchiveEntry = {
  readonly name: string;
  readonly isFile: boolean;
  /** Its size is counted while it is read; what the archive says about it is not relied on. */
  readonly content: () => AsyncIterable<Uint8Array>;
};
