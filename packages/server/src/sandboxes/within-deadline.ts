import { SandboxError } from "./sandbox.ts";

/** What `step` comes to; rejects with {@link SandboxError} when that takes longer, and whatever still happens is nobody's. */
export async function withinDeadline<Result>(
  step: Promise<Result>,
  deadlineMs: number,
  what: string,
): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new SandboxError(`${what} took longer than ${deadlineMs / 1_000} seconds.`)),
    deadlineMs,
  );
  try {
    return await Promise.race([step, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
