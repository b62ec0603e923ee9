/**
 * Called before a call. The function that it returns tells, after the call, what the agent has to know about the place of its tools, such
 * as that its memory was used up; an empty text for nothing. Neither rejects.
 */
export type BeginCall = () => Promise<() => Promise<string>>;
