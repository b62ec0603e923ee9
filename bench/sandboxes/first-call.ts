import type { ToolHost, ToolSession } from "@convoke/tool-host";

/** Opens a session and waits for the answer of its first call. */
export async function firstCall(
  host: ToolHost,
  places: { readonly workspaceDir: string; readonly stateDir: string },
): Promise<ToolSession> {
  const session = await host.openSession({ sessionId: "bench", ...places, tools: [{ name: "grep" }] });
  await call(session, "first");
  return session;
}

/** The cheapest tool that uses the workspace. */
export async function call(session: ToolSession, actionId: string): Promise<void> {
  const outcome = await session.execute({
    actionId,
    tool: "grep",
    action: { kind: "GrepAction", pattern: "nothing" },
    secrets: [],
  });
  if (outcome.type !== "observation") throw new Error(outcome.text);
}
