import type { OidcRefusal } from "@convoke/protocol";

/** A login was refused. The message is for the operator, without secrets and tokens. */
export class LoginRefused extends Error {
  override readonly name = "LoginRefused";
  readonly code: OidcRefusal;
  /** The person at the provider, once that is proven. */
  readonly subject: string | null;

  constructor(
    code: OidcRefusal,
    message: string,
    options: ErrorOptions & { readonly subject?: string } = {},
  ) {
    super(message, options);
    this.code = code;
    this.subject = options.subject ?? null;
  }
}
