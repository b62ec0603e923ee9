/** What is not an activity and is looked up when somebody asks. Labels are few and never ids. */
export type Gauges = {
  readonly conversationsByStatus: () => Promise<ReadonlyMap<string, number>>;
  readonly sandboxesByStatus: () => Promise<ReadonlyMap<string, number>>;
  readonly openSockets: () => number;
  readonly webhooks: () => readonly { readonly id: string; readonly lag_events: number }[];
};
