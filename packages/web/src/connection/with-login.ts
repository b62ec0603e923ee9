import type { LoginState } from "./login-state.ts";

/** Close code of sockets whose login ended. */
const refusedCode = 4001;

/** `fetch` with both halves of the login; a 401 shows the login form. */
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

/** A socket that sends the proof in its first frame, never in its URL. */
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
