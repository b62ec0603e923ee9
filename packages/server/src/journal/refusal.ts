/** A request refused before it wrote anything; `errorName` is the class of the error its caller gets. */
export class Refusal extends Error {
  readonly errorName: string;
  /** The node that owns what is refused, where one does. */
  readonly holder: string | null;

  constructor(errorName: string, message: string, holder: string | null = null) {
    super(message);
    this.errorName = errorName;
    this.holder = holder;
  }
}
