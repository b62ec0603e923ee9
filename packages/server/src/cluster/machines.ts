/**
 * The machines of the nodes on one store: data folders with permanent names. What runs on a machine is reached through
 * the node that serves it.
 */
export interface Machines {
  /** The machine of this process. */
  readonly own: string;
  /**
   * Makes this process serve its machine, also under the new id that it takes when it is fenced. Null while another
   * living process does.
   */
  serve(): Promise<AsyncDisposable | null>;
  /** Maps machines to the nodes that serve them; machines without a living, reachable node are absent. */
  served(): Promise<ReadonlyMap<string, string>>;
}
