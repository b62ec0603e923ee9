/** The database did not answer. The statement may have been carried out. */
export class DatabaseAwayError extends Error {
  override readonly name = "DatabaseAwayError";
}
