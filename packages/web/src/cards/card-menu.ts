/** Callbacks of the card menu. */
export type CardMenu = {
  readonly showEvent: (eventId: string) => void;
  /** Shows the model input that led to the call. */
  readonly showContext: (eventId: string) => void;
};
