/** What happens to actions whose approval times out. */
export type ApprovalPolicy = { readonly timeout_seconds: number; readonly on_timeout: "accept" | "reject" };
