/** What people have open beside the agent, such as shells: it ends with the conversation. */
export type People = AsyncDisposable;

export const nobody: People = { [Symbol.asyncDispose]: async () => {} };
