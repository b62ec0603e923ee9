/** What happens to actions that nobody has answered in time. */
export type ApprovalPolicy = { readonly timeout_seconds: number; readonly on_timeout: "accept" | "reject" };
