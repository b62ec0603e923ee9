/**
 * The reason of aborts at the regular end of an operation. Without a reason each abort would create an error with a
 * stack, which is the slowest part of it. It has the same message as that error.
 */
export const ended: Error = Object.assign(new Error("This operation was aborted"), { name: "AbortError" });
