import { ConvokeClient } from "@convoke/client";
import { Suspense, type JSX } from "react";
import { App } from "../app/app.tsx";
import type { LoginState } from "../connection/login-state.ts";
import { serverAddress } from "../lib/server-address.ts";
import { sharedIn } from "./shared-in.ts";
import { enterByLink } from "../login/enter-by-link.ts";

type Opened = { readonly client: ConvokeClient; readonly page: JSX.Element };

/** What the address leads to that has something behind its `#`: a login, a shared conversation, or just the page. */
export async function openLink(client: ConvokeClient, login: LoginState): Promise<Opened> {
  const id = sharedIn(location.pathname);
  if (id === null) return { client, page: <App loginProblem={await enterByLink(client, login)} /> };
  const { SharedPage } = await import("./shared-page.tsx");
  return {
    client: new ConvokeClient({ baseUrl: serverAddress(document.baseURI), apiKey: location.hash.slice(1) }),
    page: (
      <Suspense>
        <SharedPage id={id} />
      </Suspense>
    ),
  };
}
