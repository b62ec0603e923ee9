/** What was refused on the way out of a wall or sandbox since a mark, in words for the agent; 0 for all. */
export type RefusalsSince = (mark: number) => Promise<{ readonly mark: number; readonly text: string }>;
