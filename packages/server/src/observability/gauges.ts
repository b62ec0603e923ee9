/** Values that are read when metrics are requested. Labels are few and never ids. */
export type Gauges = {
  readonly conversationsByStatus: () => Promise<ReadonlyMap<string, number>>;
  readonly sandboxesByStatus: () => Promise<ReadonlyMap<string, number>>;
  readonly wallsRunning: () => number;
  readonly openSockets: () => number;
  readonly webhooks: () => readonly { readonly id: string; readonly lag_events: number }[];
};
