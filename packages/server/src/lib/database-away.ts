/** The database did not answer. What was asked of it may have been done all the same. */
export class DatabaseAwayError extends Error {
  override readonly name = "DatabaseAwayError";
}
