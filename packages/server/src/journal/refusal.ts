/** A request refused before it wrote anything; `errorName` is the class of the error its caller gets. */
export class Refusal extends Error {
  readonly errorName: string;

  constructor(errorName: string, message: string) {
    super(message);
    this.errorName = errorName;
  }
}
