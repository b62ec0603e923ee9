/** How long a socket waits for what, in milliseconds. */
export type SocketTimes = {
  /** For the first frame of a client that gave no key in its handshake. */
  readonly authDeadlineMs: number;
  readonly pingEveryMs: number;
  /** A client from which nothing came for so long is gone (P45). */
  readonly deadAfterMs: number;
  /** A client that takes nothing for so long is closed; it resumes by the last event id it saw (P10). */
  readonly stallMs: number;
  /** One that does not even take that it is closed is cut off after so long more. */
  readonly closingMs: number;
  /** The socket of a caller whose key was revoked is closed after at most so long. */
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
