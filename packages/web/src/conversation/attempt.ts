/** Runs a request and shows its error. Resolves with whether it succeeded. */
export type Attempt = (act: () => Promise<unknown>) => Promise<boolean>;
