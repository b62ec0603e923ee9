/**
 * The reason of aborts that come at the end of everything, when nothing is broken off as a rule: without a reason each of them
 * would make an error with a stack, which takes longer than all else that they do. It reads as that error does.
 */
export const ended: Error = Object.assign(new Error("This operation was aborted"), { name: "AbortError" });
