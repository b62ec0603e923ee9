/** Callbacks of the row menu. */
export type RowMenu = {
  readonly fork: (eventId: string) => void;
  readonly goBack: (eventId: string) => void;
  readonly editAndBranch: (eventId: string, text: string) => void;
  readonly showEvent: (eventId: string) => void;
  /** Shows the model input that led to this row. */
  readonly showContext: (eventId: string) => void;
};
