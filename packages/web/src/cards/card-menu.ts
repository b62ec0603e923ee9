/** What can be done from a card. */
export type CardMenu = {
  readonly showEvent: (eventId: string) => void;
  /** What the model was shown before it made the call. */
  readonly showContext: (eventId: string) => void;
};
