/** The timeouts of a socket, in milliseconds. */
export type SocketTimes = {
  /** For the first frame of a client that gave no key in its handshake. */
  readonly authDeadlineMs: number;
  readonly pingEveryMs: number;
  /** A client without input for that long is dropped (P45). */
  readonly deadAfterMs: number;
  /** A client that reads nothing for that long is closed; it resumes after the last event id it saw (P10). */
  readonly stallMs: number;
  /** A client that does not read the close frame either is cut off after that much more. */
  readonly closingMs: number;
  /** The socket of a caller whose key was revoked or has expired is closed after at most that long. */
  readonly keyCheckEveryMs: number;
};

export const socketTimes: SocketTimes = {
  authDeadlineMs: 10_000,
  pingEveryMs: 10_000,
  deadAfterMs: 24_000,
  stallMs: 20_000,
  closingMs: 10_000,
  keyCheckEveryMs: 1_000,
};
