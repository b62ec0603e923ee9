/** Does something that may be refused; the refusal is shown. True when it was done. */
export type Attempt = (act: () => Promise<unknown>) => Promise<boolean>;
