/** Who a request acts for. */
export type Caller = {
  readonly userId: string;
  /** Of the issued key that told who it is; absent with keys that cannot be revoked. */
  readonly keyId?: string;
  /** Of the browser's login that told who it is. */
  readonly loginId?: string;
  /** What told who it is, where that was no key of a user. */
  readonly means?: "cookie" | "login" | "page" | "sandbox key" | "port key";
};

/** The user of configured keys and of the data folder's own, and everybody where no key is needed. */
export const localUser: Caller = { userId: "local" };
