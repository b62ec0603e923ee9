import { userInfo } from "node:os";

/** Name of the current user; the number when the machine has no name for it, as in containers. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? ""); // The user has no name: the only reason for a failure.
  }
}
