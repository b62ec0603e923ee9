/** Structured logging as the rest of the code sees it; pino fits. Fields never hold secrets. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** For tests and embedding: says nothing. */
export const silentLogger: Logger = { info: () => {}, warn: () => {}, error: () => {} };
