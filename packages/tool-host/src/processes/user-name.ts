import { userInfo } from "node:os";

/** The name of the user we run as; the number where the machine has no name for it, as in containers. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? ""); // The only reason that it can fail for.
  }
}
