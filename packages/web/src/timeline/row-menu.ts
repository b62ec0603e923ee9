/** What can be done from a row. */
export type RowMenu = {
  readonly fork: (eventId: string) => void;
  readonly goBack: (eventId: string) => void;
  readonly editAndBranch: (eventId: string, text: string) => void;
  readonly showEvent: (eventId: string) => void;
  /** What the model was shown before it said or did this. */
  readonly showContext: (eventId: string) => void;
};
