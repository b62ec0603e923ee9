/** The machines of the servers on one store: data folders, each by a name that stays. What runs on one is reached through its server. */
export interface Machines {
  /** That of this process. */
  readonly own: string;
  /**
   * From now on this process serves what runs on its machine, also under the name that it takes when it was declared dead. Null while
   * another one does that lives.
   */
  serve(): Promise<AsyncDisposable | null>;
  /** Which node serves which machine; a machine without a living one that can be reached is not in it. */
  served(): Promise<ReadonlyMap<string, string>>;
}
