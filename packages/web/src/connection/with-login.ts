import type { LoginState } from "./login-state.ts";

/** Sockets are closed so when their login ends. */
const refusedCode = 4001;

/** `fetch` with both halves of the login; a refusal of the login shows the login form. */
export function fetchWithLogin(login: LoginState): typeof fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    const { proof } = login;
    if (proof !== null) headers.set("X-Convoke-Proof", proof);
    const reply = await fetch(input, { ...init, headers, credentials: "same-origin" });
    if (reply.status === 401) login.refuse(proof);
    else if (login.status.snapshot() === "unknown" && reply.ok) login.status.set("in");
    return reply;
  };
}

/** A socket that shows the second half of the login in its first frame, never in its address. */
export function socketWithProof(login: LoginState): typeof WebSocket {
  return class extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols);
      const { proof } = login;
      if (proof !== null)
        this.addEventListener("open", () => this.send(JSON.stringify({ type: "auth", proof })));
      this.addEventListener("close", ({ code }) => {
        if (code === refusedCode) login.refuse(proof);
      });
    }
  };
}
