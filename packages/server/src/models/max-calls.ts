/** Calls of one answer that are read. Those behind them cost time and memory, and no model means them. */
export const maxCalls = 1_024;
