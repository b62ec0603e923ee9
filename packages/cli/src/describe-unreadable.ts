/** Why a file that was named cannot be read, in a sentence. */
export function describeUnreadable(path: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return `There is no file ${path}.`;
  if (code === "EISDIR") return `${path} is a folder, not a file.`;
  if (code === "EACCES" || code === "EPERM") return `Your user may not read ${path}.`;
  return `${path} cannot be read: ${code ?? message}`;
}
