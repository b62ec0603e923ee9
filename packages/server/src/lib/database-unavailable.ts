/** The database did not answer. The statement may have been carried out. */
export class DatabaseUnavailableError extends Error {
  override readonly name = "DatabaseUnavailableError";
}
